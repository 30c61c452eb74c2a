import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Minified JavaScript as bundlers write it, 7.9 MB in all: what the fixtures are cut from. */
const scripts = ['typescript/ts.worker.js', 'css/css.worker.js', 'html/html.worker.js']

let corpus: Promise<Buffer> | undefined

/**
 * Real JavaScript: `size` bytes from `offset` on, counted from the start again where it ends.
 *
 * @throws RangeError when `size` is more than there is: nothing is repeated within a fixture.
 */
export async function cutScript(offset: number, size: number): Promise<Buffer> {
  corpus ??= readCorpus()
  const bytes = await corpus
  if (size > bytes.length) throw new RangeError(`${size} bytes wanted, the corpus has ${bytes.length}`)
  const start = offset % bytes.length
  const head = bytes.subarray(start, start + size)
  return Buffer.concat([head, bytes.subarray(0, size - head.length)])
}

async function readCorpus(): Promise<Buffer> {
  const folder = join(dirname(createRequire(import.meta.url).resolve('monaco-editor')), 'language')
  return Buffer.concat(await Promise.all(scripts.map((script) => readFile(join(folder, script)))))
}
