import { describe, expect, test } from 'vitest'
import { commandOf, readRunOptions } from './run-options.ts'

describe('readRunOptions', () => {
  test('measures everything with five rounds by default', () => {
    expect(readRunOptions([])).toMatchObject({ servers: [], workloads: [], rounds: 5, connections: [64] })
  })

  test('takes shorter defaults with --quick, which other options outrank', () => {
    expect(readRunOptions(['--quick', '--duration', '9'])).toMatchObject({ rounds: 2, seconds: 9 })
  })

  test('sweeps over three numbers of connections', () => {
    expect(readRunOptions(['--sweep'])).toMatchObject({
      connections: [10, 64, 256],
      rounds: 3,
      warmUpSeconds: 1,
    })
  })

  test('leaves nothing out of what was saved unless it is told', () => {
    expect(readRunOptions(['--from', 'a.json,b.json', '--quick'])).toMatchObject({
      from: ['a.json', 'b.json'],
      servers: [],
      workloads: [],
      connections: [],
    })
  })

  test.each([
    [['--quick', '--sweep'], 'one of them'],
    [['--warm-up', 'long'], '--warm-up: expected seconds, found "long"'],
    [['--rounds', '0'], '--rounds: expected a whole number above 0, found "0"'],
    [['--connections', '10,many'], '--connections: expected a whole number above 0, found "many"'],
    [['--fast'], '--fast'],
  ])('refuses %j', (argv, message) => {
    expect(() => readRunOptions(argv)).toThrow(message)
  })
})

describe('commandOf', () => {
  test('spells out what rules the numbers, and no path of this machine', () => {
    const options = readRunOptions(['--quick', '--servers', 'floor,sirv', '--save', '/somewhere/file.json'])
    if (typeof options === 'string') throw new TypeError(options)
    expect(commandOf(options)).toBe(
      'pnpm bench:serve --servers floor,sirv --workloads bundles50k,variant16k,not-modified-tag,script-1024k ' +
        '--connections 64 --rounds 2 --duration 2 --warm-up 1 --server-cores 0 --load-cores 1 --workers 1',
    )
  })
})
