// Loaded before a program. At its end, writes its cost into the file of SERVE_DIST_MEASURE.
import { readFileSync, writeFileSync } from 'node:fs'

/** The cost of a process, with its threads. */
export interface ProcessCost {
  readonly cpuSeconds: number
  readonly peakBytes: number
  /** Bytes of the system's `write` calls. */
  readonly writtenBytes: number
}

const file = process.env['SERVE_DIST_MEASURE']

process.on('exit', () => {
  if (file === undefined) return
  const { userCPUTime, systemCPUTime } = process.resourceUsage()
  // Not `maxRSS`: it includes the parent's memory at the fork.
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  const written = /^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]
  const cost: ProcessCost = {
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakBytes: Number(peak) * 1024,
    writtenBytes: Number(written),
  }
  writeFileSync(file, JSON.stringify(cost))
})
