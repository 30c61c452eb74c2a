import { cpus, release, totalmem, type } from 'node:os'
import type { Machine } from './report.ts'

/** Describes the machine that this runs on. */
export function readMachine(): Machine {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release().split('-')[0]}`,
    node: process.versions.node,
  }
}
