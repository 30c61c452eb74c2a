// Loaded before a program: at its end, writes its cost into the file that SERVE_DIST_MEASURE names.
import { readFileSync, writeFileSync } from 'node:fs'

/** What a process took, its threads included. */
export interface ProcessCost {
  readonly cpuSeconds: number
  readonly peakBytes: number
  /** Handed to the system's `write` calls. */
  readonly writtenBytes: number
}

const file = process.env['SERVE_DIST_MEASURE']

process.on('exit', () => {
  if (file === undefined) return
  const { userCPUTime, systemCPUTime } = process.resourceUsage()
  // Not `maxRSS`: it begins with what the parent held when it forked.
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  const written = /^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]
  const cost: ProcessCost = {
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakBytes: Number(peak) * 1024,
    writtenBytes: Number(written),
  }
  writeFileSync(file, JSON.stringify(cost))
})
