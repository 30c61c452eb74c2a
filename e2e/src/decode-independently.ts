import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { decompress as decompressZstd } from '@mongodb-js/zstd'
import type { ContentCoding } from '@serve-dist/manifest'
import type BrotliWasm from 'brotli-wasm'
import { gunzipSync } from 'fflate'

// Its `import` export is for browsers.
const brotliWasm: typeof BrotliWasm = createRequire(import.meta.url)('brotli-wasm')

/** The system's programs, which are never the encoder's library. */
const programs: Readonly<Record<ContentCoding, readonly [string, ...string[]]>> = {
  // Browsers accept zstd windows up to 8 MiB (RFC 9659 §3). Larger ones fail here.
  zstd: ['zstd', '-dc', '--memory=8MB'],
  br: ['brotli', '-dc'],
  gzip: ['gzip', '-dc'],
}

/** Decodes a content coding with other code than the encoder's: the system's program, or another library. */
export async function decodeIndependently(file: string, coding: ContentCoding): Promise<Uint8Array> {
  return (await decodeByProgram(file, programs[coding])) ?? decodeByLibrary(await readFile(file), coding)
}

async function decodeByProgram(
  file: string,
  [program, ...args]: readonly [string, ...string[]],
): Promise<Uint8Array | undefined> {
  // Use standard input because `gzip` rejects links, and names with another suffix.
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const isMissing = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true))
    child.once('spawn', () => resolve(false))
  })
  if (isMissing) return undefined
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.stdin.on('error', () => {
    // A decoder that rejects the bytes closes its input early. Its exit code reports the error.
  })
  child.stdin.end(await readFile(file))
  const [decoded, complaint] = await Promise.all([buffer(child.stdout), buffer(child.stderr)])
  const exitCode = await ended
  if (exitCode !== 0) throw new Error(`${program} refuses ${file}: ${complaint.toString()}`)
  return decoded
}

async function decodeByLibrary(bytes: Uint8Array, coding: ContentCoding): Promise<Uint8Array> {
  switch (coding) {
    case 'zstd':
      return await decompressZstd(Buffer.from(bytes))
    case 'gzip':
      return gunzipSync(bytes)
    case 'br':
      return (await brotliWasm).decompress(bytes)
    default:
      throw new TypeError(`no decoder for ${String(coding satisfies never)}`)
  }
}
