import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { benchDirectory } from '../bench-directory.ts'
import { withoutPaths } from './without-paths.ts'

const repository = join(benchDirectory, '..')

describe('withoutPaths', () => {
  test.each([
    [`ENOENT: ${join(repository, 'bench/dist/serve/peers/h3.js')}`, 'ENOENT: bench/dist/serve/peers/h3.js'],
    [`at file://${join(repository, 'bench/dist/a.js')}:3:1`, 'at bench/dist/a.js:3:1'],
    [`in ${repository.replace(/\/$/, '')}, stopped`, 'in ., stopped'],
    [`open ${join(tmpdir(), 'serve-dist-bench-Xy1', 'error.log')}`, 'open serve-dist-bench-Xy1/error.log'],
    [`${join(homedir(), '.cargo/bin/static-web-server')}: no`, '~/.cargo/bin/static-web-server: no'],
    ['/assets/bundle-1.js: 200, not 304', '/assets/bundle-1.js: 200, not 304'],
  ])('%j says %j', (text, said) => {
    expect(withoutPaths(text)).toBe(said)
  })
})
