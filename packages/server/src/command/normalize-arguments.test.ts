import { describe, expect, test } from 'vitest'
import { normalizeArguments } from './normalize-arguments.ts'

const commands = ['compress', 'check', 'explain']

/** An existing file in the working directory of the tests. */
const thereIs = 'package.json'

describe('normalizeArguments', () => {
  test.each([
    ['--host dist', '--host=* dist'],
    ['dist --host', 'dist --host=*'],
    ['--host 0.0.0.0 dist', '--host=0.0.0.0 dist'],
    ['--host --port 3000', '--host=* --port 3000'],
    ['-H ::1 dist', '--host=::1 dist'],
    ['--host localhost', '--host=localhost'],
    ['--host web.internal dist', '--host=web.internal dist'],
    [`--host ${thereIs}`, `--host=* ${thereIs}`],
    ['--host ./dist.v2', '--host=* ./dist.v2'],
    ['--host ../out', '--host=* ../out'],
    ['--host .output', '--host=* .output'],
    ['--host=web dist', '--host=web dist'],
    ['--csp dist', '--csp=enforce dist'],
    ['dist --csp', 'dist --csp=enforce'],
    ['--csp off dist', '--csp=off dist'],
    ['--csp strict', '--csp=strict'],
    ['--csp strict dist', '--csp=strict dist'],
    ['dist --csp report_only --port 1', 'dist --csp=report_only --port 1'],
    ['--csp packages', '--csp=enforce packages'],
    ['--csp ./strict', '--csp=enforce ./strict'],
    ['--csp --port 3000', '--csp=enforce --port 3000'],
    ['--csp=report-only dist', '--csp=report-only dist'],
    ['explain --csp report-only /about', 'explain --csp=report-only /about'],
    ['explain /about --csp', 'explain /about --csp=enforce'],
    ['check -H x:y', 'check -H x:y'],
    ['help', '--help'],
    ['help compress', 'compress --help'],
    ['--help compress', 'compress --help'],
    ['-h check', 'check --help'],
    ['help all', '--help all'],
    ['--help=all', '--help all'],
    ['--help all', '--help all'],
    ['compress --help', 'compress --help'],
    ['dist --port 1', 'dist --port 1'],
  ])('rewrites %s to %s', (written, read) => {
    expect(normalizeArguments(written.split(' '), commands)).toEqual(read.split(' '))
  })
})
