import { describe, expect, test } from 'vitest'
import type { EngineBinding } from '@serve-dist/engine'
import { chooseEngine, type EngineChoice } from './choose-engine.ts'

// The code under test only passes it on.
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
/** The addon does not support a zone in the host. */
const zoned = (engine: EngineChoice): Options => ({ engine, host: 'fe80::1%eth0' })

describe('chooseEngine', () => {
  test.each(['auto', 'native'] as const)('uses the addon for %j if it loads', async (choice) => {
    expect(await chooseEngine(local(choice), { load: loads })).toEqual({ name: 'native', binding })
  })

  test('uses node for "auto" without an addon and gives the reason', async () => {
    expect(await chooseEngine(local('auto'), { load: fails })).toEqual({
      name: 'node',
      why: 'it has no binary for z80',
    })
  })

  test('uses node for "auto" if the addon lacks a feature, without loading it', async () => {
    expect(await chooseEngine(zoned('auto'), { load: never })).toEqual({
      name: 'node',
      why: 'no support for a zone in --host',
    })
  })

  test('uses node for "node" without a reason, without loading the addon', async () => {
    expect(await chooseEngine(zoned('node'), { load: never })).toEqual({ name: 'node' })
  })

  test('uses node for "auto" if the addon cannot use the certificate, and gives the reason', async () => {
    const credentials = { cert: Buffer.of(), key: Buffer.of(), validFrom: 0, validTo: 0 }
    expect(await chooseEngine(local('auto'), { credentials, load: loadsRefusing })).toEqual({
      name: 'node',
      why: 'it cannot use the certificate: unknown key',
    })
  })

  test.each([
    [zoned('native'), 'no support for a zone in --host'],
    [local('native'), 'it has no binary for z80'],
  ])('rejects "native" for %j', async (options, why) => {
    await expect(chooseEngine(options, { load: fails })).rejects.toMatchObject({
      code: 'SD_ENGINE_UNAVAILABLE',
      problems: [
        `the native engine is not available: ${why}. Use --engine auto to fall back to Node's engine.`,
      ],
    })
  })

  test('tells the operator how to fix a worker that cannot use the engine', async () => {
    const credentials = { cert: Buffer.of(), key: Buffer.of(), validFrom: 0, validTo: 0 }
    const choosing = chooseEngine(local('native'), { credentials, isWorker: true, load: loadsRefusing })
    await expect(choosing).rejects.toMatchObject({
      code: 'SD_ENGINE_UNAVAILABLE',
      message:
        'a new worker cannot use the native engine of this server: it cannot use the certificate: unknown key. Fix this, or restart the server with --engine auto or --engine node.',
    })
  })
})
