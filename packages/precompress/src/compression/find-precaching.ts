import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Manifest, ManifestFile } from '@serve-dist/manifest'

/**
 * Finds service workers that precache the environment module, in a list of Workbox (`url: "…"`) or a list of URLs. With
 * such a worker, browsers never request the module again.
 */
export async function findPrecaching(
  folder: string,
  { environment, files }: Pick<Manifest, 'environment' | 'files'>,
): Promise<string[]> {
  if (environment === undefined) return []
  const list = precacheList(environment.path)
  const found: string[] = []
  // The file of a service worker keeps its name, so the name has no hash.
  for (const { path } of files.filter(mayBeServiceWorker)) {
    const text = await readFile(join(folder, path), 'utf8')
    if (list.test(text.replaceAll(preloads, ''))) found.push(path)
  }
  return found
}

function mayBeServiceWorker({ mediaType, cache, runtime }: ManifestFile): boolean {
  return mediaType.startsWith('text/javascript') && cache !== 'immutable' && runtime !== true
}

/** Vite's list of files to preload with a lazy chunk. */
const preloads = /\(m\.f=\[[^\]]*\]\)/g

function precacheList(path: string): RegExp {
  const name = path.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  const text = `(["'\`])(?:[^"'\`\\s]*/)?${name}(?:\\?[^"'\`\\s]*)?\\1`
  return new RegExp(String.raw`\burl["']?\s*:\s*${text}|[[,]\s*${text.replace('\\1', '\\2')}\s*[,\]]`)
}
