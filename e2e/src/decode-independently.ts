import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { decompress as decompressZstd } from '@mongodb-js/zstd'
import type { ContentCoding } from '@serve-dist/manifest'
import type BrotliWasm from 'brotli-wasm'
import { gunzipSync } from 'fflate'

// Its export for `import` is a browser's.
const brotliWasm: typeof BrotliWasm = createRequire(import.meta.url)('brotli-wasm')

/** The system's own program where there is one, which is never the library that the encoder is. */
const programs: Readonly<Record<ContentCoding, readonly [string, ...string[]]>> = {
  // 8 MiB is the largest window that a browser takes (RFC 9659 §3), so a larger one fails here.
  zstd: ['zstd', '-dc', '--memory=8MB'],
  br: ['brotli', '-dc'],
  gzip: ['gzip', '-dc'],
}

/** Undoes a content coding by other code than the encoder's: the system's program, else a library of its own. */
export async function decodeIndependently(file: string, coding: ContentCoding): Promise<Uint8Array> {
  return (await decodeByProgram(file, programs[coding])) ?? decodeByLibrary(await readFile(file), coding)
}

async function decodeByProgram(
  file: string,
  [program, ...args]: readonly [string, ...string[]],
): Promise<Uint8Array | undefined> {
  // Standard input instead of the name: `gzip` refuses names with another ending, and links.
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const isMissing = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true))
    child.once('spawn', () => resolve(false))
  })
  if (isMissing) return undefined
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.stdin.on('error', () => {
    // A decoder that refuses the bytes closes its input early; its exit code tells.
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
