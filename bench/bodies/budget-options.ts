import { parseArgs } from 'node:util'
import { positive } from '../serve/positive.ts'

/** What the command line asks for. */
export interface BudgetOptions {
  /** In MiB. */
  readonly budgets: readonly number[]
  readonly files: number
  readonly rounds: number
  readonly seconds: number
  readonly save: string | undefined
  readonly chart: string | undefined
  readonly from: string | undefined
  /** Whether the table goes into the documentation. */
  readonly write: boolean
}

export const usage = `bench:budget [options]

  --budgets a,b    budgets in MiB (default: 0,4,8,16,32,64)
  --files n        files of the site, made once and kept (default: 10000)
  --rounds n       rounds, the budgets taking turns (default: 2)
  --seconds s      seconds of each load (default: 2)
  --save file      save the report
  --chart file     draw it as an SVG
  --write          put the table into docs/decisions/003-memory.md
  --from file      measure nothing: print and draw what was saved

With its defaults it takes about three minutes, the first time five; for a look: --files 1000 --budgets 0,1,8 --rounds 1
`

/**
 * Reads the command line.
 *
 * @throws TypeError that names what is wrong.
 */
export function readBudgetOptions(argv: readonly string[]): BudgetOptions | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      budgets: { type: 'string', default: '0,4,8,16,32,64' },
      files: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '2' },
      seconds: { type: 'string', default: '2' },
      save: { type: 'string' },
      chart: { type: 'string' },
      from: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  return {
    budgets: values.budgets.split(',').map((text) => (text === '0' ? 0 : positive('budgets', text))),
    files: positive('files', values.files),
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    save: values.save,
    chart: values.chart,
    from: values.from,
    write: values.write,
  }
}
