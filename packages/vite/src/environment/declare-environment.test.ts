import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { declareEnvironment, environmentTypesText } from './declare-environment.ts'
import type { EnvironmentSettings } from './environment-settings.ts'

const settings: EnvironmentSettings = {
  environment: {
    path: 'serve-dist-env.js',
    prefix: '',
    variables: {
      API_URL: { type: 'string', required: true },
      LIMIT: { type: 'number', default: 10 },
      DEBUG: { type: 'boolean' },
      MENU: { type: 'json', default: [] },
    },
  },
  types: undefined,
}

function temporaryRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'serve-dist-types-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

function refuseWarnings(message: string): void {
  throw new Error(message)
}

describe('environmentTypesText', () => {
  test('types each value, and makes values optional that may be missing', () => {
    expect(environmentTypesText(settings.environment)).toBe(`// Written by serveDist() from its option "env".
declare module 'virtual:serve-dist/env' {
  const env: {
    readonly API_URL: string
    readonly LIMIT: number
    readonly DEBUG?: boolean
    readonly MENU: unknown
  }
  export default env
}
`)
  })
})

describe('declareEnvironment', () => {
  test('writes into src if it exists, and only changes', () => {
    const root = temporaryRoot()
    mkdirSync(join(root, 'src'))
    const file = join(root, 'src/serve-dist-env.d.ts')
    declareEnvironment(settings, root, refuseWarnings)
    utimesSync(file, 1, 1)
    declareEnvironment(settings, root, refuseWarnings)
    expect(statSync(file).mtimeMs).toBe(1000)
    const environment = { ...settings.environment, variables: { OTHER: { type: 'string' } } } as const
    declareEnvironment({ ...settings, environment }, root, refuseWarnings)
    expect(readFileSync(file, 'utf8')).toContain('readonly OTHER?: string')
  })

  test.each([
    [undefined, 'serve-dist-env.d.ts'],
    ['types/env.d.ts', 'types/env.d.ts'],
  ])('uses for envTypes %j the file %s', (types, file) => {
    const root = temporaryRoot()
    declareEnvironment({ ...settings, types }, root, refuseWarnings)
    expect(readFileSync(join(root, file), 'utf8')).toContain('readonly LIMIT: number')
  })

  test.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
    'warns about a folder that is not writable',
    () => {
      const root = temporaryRoot()
      chmodSync(root, 0o555)
      const warnings: string[] = []
      declareEnvironment(settings, root, (message) => warnings.push(message))
      expect(warnings).toEqual([expect.stringContaining('cannot write ')])
    },
  )

  test('warns if a folder has the name of the file', () => {
    const root = temporaryRoot()
    mkdirSync(join(root, 'serve-dist-env.d.ts'))
    const warnings: string[] = []
    declareEnvironment(settings, root, (message) => warnings.push(message))
    expect(warnings).toEqual([expect.stringMatching(/^cannot write .*serve-dist-env\.d\.ts: /)])
  })
})
