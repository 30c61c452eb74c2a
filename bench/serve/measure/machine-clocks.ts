import { readFile } from 'node:fs/promises'

/** CPU time that has been spent so far, in seconds. */
export interface MachineClocks {
  /** By everybody on this machine, and by others on the same hardware while we wanted it. */
  readonly everybody: number
  /** By the harness and the processes that it started and that have ended. */
  readonly harness: number
}

const ticksPerSecond = 100

/** Reads them from `/proc`. */
export async function readMachineClocks(): Promise<MachineClocks> {
  const [machine, self] = await Promise.all([
    readFile('/proc/stat', 'utf8'),
    readFile('/proc/self/stat', 'utf8'),
  ])
  // proc(5): user nice system idle iowait irq softirq steal. What interrupts cost is not told from ours.
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] = ticksIn(machine.split('\n')[0]?.slice(5) ?? '')
  // utime stime cutime cstime, fields 14 to 17, counted from behind the name.
  const own = ticksIn(self.slice(self.lastIndexOf(')') + 2)).slice(11, 15)
  return {
    everybody: (user + nice + system + steal) / ticksPerSecond,
    harness: own.reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond,
  }
}

function ticksIn(line: string): number[] {
  return line.split(' ').map(Number)
}
