import * as monaco from 'monaco-editor'

import './main.css'
import sample from './sample.ts.txt?raw'
import './workers.ts'

const container = document.getElementById('editor')
const problems = document.getElementById('problems')
if (!container || !problems) throw new Error('index.html has no #editor or no #problems')

const dark = matchMedia('(prefers-color-scheme: dark)')
const theme = () => (dark.matches ? 'vs-dark' : 'vs')
dark.addEventListener('change', () => monaco.editor.setTheme(theme()))

const model = monaco.editor.createModel(sample, 'typescript', monaco.Uri.file('/tides.ts'))

// Markers are the answer of the TypeScript worker.
monaco.editor.onDidChangeMarkers(() => {
  const messages = monaco.editor.getModelMarkers({ resource: model.uri }).map((marker) => marker.message)
  problems.textContent = messages.join(' ') || 'No problems'
  if (messages.length > 0 && container.querySelector('.view-line')) document.body.dataset.ready = 'true'
})

monaco.editor.create(container, {
  model,
  theme: theme(),
  automaticLayout: true,
  fontSize: 14,
  minimap: { enabled: false },
  padding: { top: 16 },
})
