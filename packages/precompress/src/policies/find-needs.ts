import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isPageType } from '@serve-dist/manifest'
import { type DescribedFile, readIfThere } from '../folder/describe-file.ts'
import type { PolicyNeed } from '../record/build-record.ts'

type Need = Omit<PolicyNeed, 'reason'>

const wasm: readonly Need[] = [{ directive: 'script-src', source: "'wasm-unsafe-eval'" }]
const media: readonly Need[] = ["'self'", 'data:'].map((source) => ({ directive: 'media-src', source }))
const blobWorker: readonly Need[] = ["'self'", 'blob:'].map((source) => ({ directive: 'worker-src', source }))
const dataWorker: readonly Need[] = ["'self'", 'data:'].map((source) => ({ directive: 'worker-src', source }))

/** A worker from a blob URL, as in Vite's `?worker&inline` (6 to 8). */
const startsBlobWorker =
  /\bcreateObjectURL\b[^;]{0,60}[;),][^]{0,120}?\bnew Worker\([\w$]+[,)]|new Worker\([^;]{0,60}createObjectURL\(/

/** Vite's output for `?sharedworker&inline`. */
const startsDataWorker = /new SharedWorker\(\s*["'`]data:/

/** Milliseconds of work before it yields to the event loop, so that a server can answer during a reload. */
const longestSlice = 4

/** Returns the sources that the files of a build need in a policy, with the reasons. */
export async function findNeeds(folder: string, files: readonly DescribedFile[]): Promise<PolicyNeed[]> {
  const needs: PolicyNeed[] = []
  let begun = performance.now()
  for (const { path, mediaType } of files) {
    if (performance.now() - begun > longestSlice) {
      await setImmediate()
      begun = performance.now()
    }
    const add = (found: readonly Need[], what: string): void => {
      needs.push(...found.map((need) => ({ ...need, reason: `${path} ${what}` })))
    }
    if (mediaType === 'application/wasm') add(wasm, 'is WebAssembly')
    const isScript = mediaType.startsWith('text/javascript')
    if (!isScript && !isPageType(mediaType)) continue
    const bytes = readIfThere(join(folder, path))
    if (bytes.includes('data:application/wasm')) add(wasm, 'holds WebAssembly')
    if (['data:audio/', 'data:video/'].some((start) => bytes.includes(start))) add(media, 'holds media')
    if (!isScript || !bytes.includes('Worker(')) continue
    const text = bytes.toString('latin1')
    if (startsBlobWorker.test(text)) add(blobWorker, 'starts a worker from a blob: URL')
    if (startsDataWorker.test(text)) add(dataWorker, 'starts a worker from a data: URL')
  }
  return needs
}
