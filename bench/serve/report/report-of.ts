import type { Report, Row, Sample } from './report.ts'

const sample: Sample = {
  requestsPerSecond: 1000,
  p50Milliseconds: 1,
  p99Milliseconds: 2,
  lateMilliseconds: 0,
  wireBytesPerRequest: 100,
  cpuMicrosecondsPerRequest: 50,
  cpuShare: 1,
  peakBytes: 1e6,
  bootMilliseconds: 100,
  foreignCpuShare: 0,
  stolenCpuShare: 0,
  heldBytes: 1e6,
}

const row: Row = {
  server: 'serve-dist',
  version: '1.0.0',
  workload: 'bundles50k',
  connections: 64,
  samples: [sample],
  codings: ['zstd'],
  remarks: [],
  void: undefined,
}

/** A report of one workload with these requests per second, of one round or several. */
export function reportOf(rates: Readonly<Record<string, number | readonly number[]>>): Report {
  return {
    date: '2026-01-01T00:00:00.000Z',
    command: 'pnpm bench:serve',
    machine: { processor: 'one', cores: 1, memoryBytes: 1, system: 'Linux', node: '20.0.0' },
    missing: {},
    titles: {},
    rows: Object.entries(rates).map(([server, rounds]) =>
      Object.assign({}, row, {
        server,
        samples: [rounds].flat().map((requestsPerSecond) => Object.assign({}, sample, { requestsPerSecond })),
      }),
    ),
  }
}

/** A void row of the same workload. */
export function voidRow(server: string): Row {
  return { ...row, server, samples: [], void: 'why' }
}
