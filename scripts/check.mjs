// `pnpm check`: the one gate, on what is installed.
import { runGate } from './run-gate.mjs'

if (!(await runGate())) process.exitCode = 1
