import { describe, expect, test } from 'vitest'
import type { EngineBinding } from '@serve-dist/engine'
import { chooseEngine } from './choose-engine.ts'

// It is passed on, and nobody looks into it.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const binding = {} as EngineBinding
const loads = async (): Promise<EngineBinding> => await Promise.resolve(binding)
const fails = async (): Promise<string> => await Promise.resolve('it has no binary for z80')
const never = async (): Promise<string> => await Promise.reject(new Error('it was loaded'))

describe('chooseEngine', () => {
  test.each(['auto', 'native'] as const)('takes the addon for %j where it loads', async (choice) => {
    expect(await chooseEngine(choice, [], loads)).toEqual({ name: 'native', binding })
  })

  test('takes node for "auto" without an addon, and says why', async () => {
    expect(await chooseEngine('auto', [], fails)).toEqual({ name: 'node', why: 'it has no binary for z80' })
  })

  test('takes node for "auto" beside what the addon cannot do, and loads nothing', async () => {
    expect(await chooseEngine('auto', ['--tls-cert', '--ops'], never)).toEqual({
      name: 'node',
      why: 'not with --tls-cert, --ops',
    })
  })

  test('takes node for "node" without a reason, and loads nothing', async () => {
    expect(await chooseEngine('node', ['--ops'], never)).toEqual({ name: 'node' })
  })

  test.each([
    [['--workers'], 'not with --workers'],
    [[], 'it has no binary for z80'],
  ])('refuses "native" beside %j', async (obstacles, why) => {
    await expect(chooseEngine('native', obstacles, fails)).rejects.toMatchObject({
      code: 'SD_ENGINE_UNAVAILABLE',
      problems: [`the native engine cannot be had: ${why}; --engine auto takes Node's where it must`],
    })
  })
})
