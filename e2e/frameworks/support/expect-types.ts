import { createRequire } from 'node:module'
import path from 'node:path'
import type { FrameworkProject } from './framework-project.ts'

const typescript = path.dirname(createRequire(import.meta.url).resolve('typescript/package.json'))

/** Type-checks a configuration of a project with the types of its framework and of serve-dist. */
export async function expectTypes(project: FrameworkProject, file: string): Promise<void> {
  const language = ['--allowJs', '--checkJs', '--strict', '--skipLibCheck', '--module', 'nodenext']
  const flags = ['--ignoreConfig', '--noEmit', ...language]
  await project.run([process.execPath, path.join(typescript, 'bin/tsc'), ...flags, file])
}
