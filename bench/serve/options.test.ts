import { describe, expect, test } from 'vitest'
import { commandOf, createCommand, optionsOf, type RunOptions } from './options.ts'

function read(argv: readonly string[]): RunOptions {
  const command = createCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
  return optionsOf(command.parse(argv, { from: 'user' }))
}

describe('optionsOf', () => {
  test('measures everything with five rounds by default', () => {
    expect(read([])).toMatchObject({ servers: [], workloads: [], rounds: 5, connections: [64] })
  })

  test('takes shorter defaults with --quick, which other options outrank', () => {
    expect(read(['--quick', '--duration', '9'])).toMatchObject({ rounds: 2, duration: 9 })
  })

  test('sweeps over three numbers of connections', () => {
    expect(read(['--sweep'])).toMatchObject({ connections: [10, 64, 256], rounds: 3, warmUp: 1 })
  })

  test.each([
    [['--quick', '--sweep'], 'cannot be used with'],
    [['--warm-up', 'long'], 'Expected seconds, found "long"'],
    [['--rounds', '0'], 'Expected a whole number above 0, found "0"'],
    [['--connections', '10,many'], 'Expected a whole number above 0, found "many"'],
    [['--fast'], '--fast'],
  ])('refuses %j', (argv, message) => {
    expect(() => read(argv)).toThrow(message)
  })
})

describe('commandOf', () => {
  test('spells out what rules the numbers, and no path of this machine', () => {
    const options = read(['--quick', '--servers', 'floor,sirv', '--save', '/somewhere/file.json'])
    expect(commandOf(options)).toBe(
      'pnpm bench:serve --servers floor,sirv --workloads bundles50k,variant16k,not-modified-tag,script-1024k ' +
        '--connections 64 --rounds 2 --duration 2 --warm-up 1 --server-cores 0 --load-cores 1 --workers 1',
    )
  })
})
