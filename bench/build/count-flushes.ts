import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from '../serve/run-process.ts'
import { type BuildRun, runBuild } from './run-build.ts'

/** How often a build asks the system to flush something to the disk; `undefined` where `strace` is missing. */
export async function countFlushes(run: BuildRun): Promise<number | undefined> {
  try {
    await runProcess('strace', ['-V'])
  } catch {
    return undefined
  }
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-bench-'))
  const file = join(folder, 'calls')
  try {
    await runBuild({ ...run, command: ['strace', '-f', '-c', '-e', 'trace=fsync,fdatasync', '-o', file] })
    // % time, seconds, usecs/call, calls, errors where there were some, name.
    const counts = (await readFile(file, 'utf8')).matchAll(/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+).*sync$/gm)
    return [...counts].reduce((sum, [, calls]) => sum + Number(calls), 0)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
