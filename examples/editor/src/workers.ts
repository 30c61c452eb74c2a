// oxlint-disable import/default -- Vite adds the default export to a `?worker` module

import EditorWorker from 'monaco-editor/editor/editor.worker.js?worker'
import CssWorker from 'monaco-editor/language/css/css.worker.js?worker'
import HtmlWorker from 'monaco-editor/language/html/html.worker.js?worker'
import JsonWorker from 'monaco-editor/language/json/json.worker.js?worker'
import TsWorker from 'monaco-editor/language/typescript/ts.worker.js?worker'

const workers: Record<string, new () => Worker> = {
  css: CssWorker,
  html: HtmlWorker,
  javascript: TsWorker,
  json: JsonWorker,
  typescript: TsWorker,
}

self.MonacoEnvironment = {
  getWorker: (_id, label) => new (workers[label] ?? EditorWorker)(),
}
