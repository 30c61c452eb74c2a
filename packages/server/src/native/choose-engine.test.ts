import { describe, expect, test } from 'vitest'
import type { EngineBinding } from '@serve-dist/engine'
import { chooseEngine, type EngineChoice } from './choose-engine.ts'

// It is passed on, and nobody looks into it.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const binding = {} as EngineBinding
const loads = async (): Promise<EngineBinding> => await Promise.resolve(binding)
const fails = async (): Promise<string> => await Promise.resolve('it has no binary for z80')
const never = async (): Promise<string> => await Promise.reject(new Error('it was loaded'))
const checkCredentials = (): void => {
  throw new Error('unknown key')
}
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const refusing = { Engine: { checkCredentials } } as unknown as EngineBinding
const loadsRefusing = async (): Promise<EngineBinding> => await Promise.resolve(refusing)

interface Options {
  readonly engine: EngineChoice
  readonly host: string
}
const local = (engine: EngineChoice): Options => ({ engine, host: '127.0.0.1' })
/** The addon takes no zone in a host. */
const zoned = (engine: EngineChoice): Options => ({ engine, host: 'fe80::1%eth0' })

describe('chooseEngine', () => {
  test.each(['auto', 'native'] as const)('takes the addon for %j where it loads', async (choice) => {
    expect(await chooseEngine(local(choice), { load: loads })).toEqual({ name: 'native', binding })
  })

  test('takes node for "auto" without an addon, and says why', async () => {
    expect(await chooseEngine(local('auto'), { load: fails })).toEqual({
      name: 'node',
      why: 'it has no binary for z80',
    })
  })

  test('takes node for "auto" beside what the addon cannot do, and loads nothing', async () => {
    expect(await chooseEngine(zoned('auto'), { load: never })).toEqual({
      name: 'node',
      why: 'not with a zone in --host',
    })
  })

  test('takes node for "node" without a reason, and loads nothing', async () => {
    expect(await chooseEngine(zoned('node'), { load: never })).toEqual({ name: 'node' })
  })

  test('takes node for "auto" where the addon cannot use the certificate, and says why', async () => {
    const credentials = { cert: Buffer.of(), key: Buffer.of(), validFrom: 0, validTo: 0 }
    expect(await chooseEngine(local('auto'), { credentials, load: loadsRefusing })).toEqual({
      name: 'node',
      why: 'it cannot use the certificate: unknown key',
    })
  })

  test.each([
    [zoned('native'), 'not with a zone in --host'],
    [local('native'), 'it has no binary for z80'],
  ])('refuses "native" for %j', async (options, why) => {
    await expect(chooseEngine(options, { load: fails })).rejects.toMatchObject({
      code: 'SD_ENGINE_UNAVAILABLE',
      problems: [`the native engine cannot be had: ${why}; --engine auto falls back to Node's engine`],
    })
  })

  test('tells a worker, whose engine its primary has chosen, what to do', async () => {
    const credentials = { cert: Buffer.of(), key: Buffer.of(), validFrom: 0, validTo: 0 }
    const choosing = chooseEngine(local('native'), { credentials, isWorker: true, load: loadsRefusing })
    await expect(choosing).rejects.toMatchObject({
      code: 'SD_ENGINE_UNAVAILABLE',
      message:
        "a new worker cannot have the native engine, which the server chose at its start: it cannot use the certificate: unknown key; mend that, or restart the server with --engine auto, which falls back to Node's engine, or with --engine node",
    })
  })
})
