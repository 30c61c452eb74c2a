import { describe, expect, test } from 'vitest'
import {
  type RequestedNames,
  type BundledFile,
  createRequestedNames,
  type EmittedAsset,
  findHashedNames,
} from './find-hashed-names.ts'

const pattern = 'assets/[name]-[hash].[ext]'
const nothingAsked = createRequestedNames()

function chunk(preliminaryFileName: string, fileName: string): BundledFile {
  return { type: 'chunk', preliminaryFileName, fileName }
}

function asset(fileName: string, ...names: string[]): BundledFile {
  return { type: 'asset', fileName, names }
}

/** Creates the requests for assets with these names, each with different content. */
function askedFor(assetFileNames: string, ...names: string[]): RequestedNames {
  const asked = createRequestedNames()
  const record = asked.record(assetFileNames)
  for (const [index, name] of names.entries()) record({ names: [name], source: `content ${index}` })
  return asked
}

function upperCased(name: string): string {
  return name.toUpperCase()
}

describe('findHashedNames of chunks', () => {
  test.each([
    ['assets/index-!~{001}~.js', 'assets/index-Dvjc6kbW.js', 'assets/index-[hash].js'],
    ['!~{001}~/index.js', 'CYzL-fM_/index.js', '[hash]/index.js'],
    ['!~{001}~/!~{001}~.js', 'CYzL-fM_/CYzL-fM_.js', '[hash]/[hash].js'],
    ['assets/!~{00000000a}~.js', 'assets/DtFeYo_oDtFeYo.js', 'assets/[hash].js'],
    ['a(b)-!~{001}~.js', 'a(b)-Dvjc6kbW.js', 'a(b)-[hash].js'],
  ])('returns for %s and %s the stem %s', (preliminary, final, stem) => {
    expect(findHashedNames([chunk(preliminary, final)], {}, nothingAsked)).toEqual(new Map([[final, stem]]))
  })

  test.each([
    ['index.js', 'index.js'],
    ['assets/jquery-abcdefgh.js', 'assets/jquery-abcdefgh.js'],
    ['assets/index-!~{001}~.js', 'index.js'],
    ['!~{001}~.js', 'sw.js'],
    ['assets/index-!~{001}~.js', 'assets/index-Dvjc6kbW.js.txt'],
  ])('returns no hash for %s and %s', (preliminary, final) => {
    expect(findHashedNames([chunk(preliminary, final)], {}, nothingAsked)).toEqual(new Map())
  })
})

describe('findHashedNames of assets', () => {
  test.each([
    ['assets/[name]-[hash].[ext]', 'assets/logo-Czd1YBCc.svg', 'logo.svg', 'assets/logo-[hash].svg'],
    ['assets/[name]-[hash][extname]', 'assets/logo-Czd1YBCc.svg', 'logo.svg', 'assets/logo-[hash].svg'],
    ['assets/[name]-[hash][extname]', 'assets/LICENSE-Czd1YBCc', 'LICENSE', 'assets/LICENSE-[hash]'],
    ['[ext]/[hash:12]/[name].[ext]', 'svg/Czd1YBCcCzd1/logo.svg', 'logo.svg', 'svg/[hash]/logo.svg'],
    ['[hash][extname]', 'Czd1YBCc.svg', 'logo.svg', '[hash].svg'],
    [
      'assets/[name]-[hash].[ext]',
      'assets/a/ho ho_1-CE2fndev.txt',
      'a/ho ho#1.txt',
      'assets/a/ho ho_1-[hash].txt',
    ],
    ['assets/[name]-[hash].[ext]', 'assets/überall-CE2fndev.txt', 'überall.txt', 'assets/überall-[hash].txt'],
    ['assets/[name]-[hash].[ext]', 'assets/a+b (1)-CE2fndev.txt', 'a+b (1).txt', 'assets/a+b (1)-[hash].txt'],
    ['assets/[name]-[hash].[ext]', 'assets/x.min-CE2fndev.js', 'x.min.js', 'assets/x.min-[hash].js'],
  ])('returns for the pattern %s the file %s', (assetFileNames, fileName, name, stem) => {
    expect(findHashedNames([asset(fileName, name)], {}, askedFor(assetFileNames, name))).toEqual(
      new Map([[fileName, stem]]),
    )
  })

  test.each([
    [
      'a pattern without a hash',
      'assets/[name].[ext]',
      asset('assets/logo-Czd1YBCc.svg', 'logo-Czd1YBCc.svg'),
    ],
    ['a file name of a plugin', pattern, asset('assets/logo-Czd1YBCc.svg')],
    ['a file name that equals the asset name', pattern, asset('assets/es-template.js', 'es-template.js')],
    ['another name', pattern, asset('assets/logo-Czd1YBCc.svg', 'other.svg')],
    ['a hash that is too short', pattern, asset('assets/logo-Czd1YBC.svg', 'logo.svg')],
    ['a source map', pattern, asset('assets/index-Czd1YBCc.js.map')],
    ['an additional folder', pattern, asset('x/assets/logo-Czd1YBCc.svg', 'logo.svg')],
  ])('returns nothing for %s', (_, assetFileNames, file) => {
    const asked = askedFor(assetFileNames, ...(file.names ?? []), 'logo.svg')
    expect(findHashedNames([file], {}, asked)).toEqual(new Map())
  })

  test('returns nothing without a request', () => {
    const chosen = asset('assets/logo-original.svg', 'logo.svg')
    expect(findHashedNames([chosen], {}, nothingAsked)).toEqual(new Map())
    expect(findHashedNames([chosen], {}, askedFor(pattern, 'other.svg'))).toEqual(new Map())
  })

  test('returns at most as many files as were requested for a name', () => {
    const files = [asset('assets/a-Czd1YBCc.svg', 'a.svg'), asset('assets/a-CE2fndev.svg', 'a.svg')]
    expect(findHashedNames(files, {}, askedFor(pattern, 'a.svg', 'a.svg')).size).toBe(2)
    expect(findHashedNames(files, {}, askedFor(pattern, 'a.svg')).size).toBe(0)
  })

  test('counts equal content once, as text or bytes', () => {
    const files = [asset('assets/a-Czd1YBCc.svg', 'a.svg'), asset('assets/a-CE2fndev.svg', 'a.svg')]
    const asked = createRequestedNames()
    const record = asked.record(pattern)
    for (const source of ['one', new TextEncoder().encode('one')]) record({ names: ['a.svg'], source })
    expect(findHashedNames(files, {}, asked).size).toBe(0)
  })

  test('ignores a chosen name of another form', () => {
    const files = [asset('assets/a-Czd1YBCc.svg', 'a.svg'), asset('assets/a-abcdefgh.min.svg', 'a.svg')]
    expect(findHashedNames(files, {}, askedFor(pattern, 'a.svg'))).toEqual(
      new Map([['assets/a-Czd1YBCc.svg', 'assets/a-[hash].svg']]),
    )
  })

  test('requires the hash alphabet', () => {
    const file = asset('assets/logo-Czd1YBCc.svg', 'logo.svg')
    const asked = askedFor(pattern, 'logo.svg')
    expect(findHashedNames([file], { hashCharacters: 'hex' }, asked).size).toBe(0)
    expect(findHashedNames([file], { hashCharacters: 'base64' }, asked).size).toBe(1)
    const hex = asset('assets/logo-00ff12ab.svg', 'logo.svg')
    expect(findHashedNames([hex], { hashCharacters: 'hex' }, asked).size).toBe(1)
  })

  test("applies the output's sanitizeFileName", () => {
    const file = asset('assets/LOGO-Czd1YBCc.SVG', 'logo.svg')
    const asked = askedFor(pattern, 'logo.svg')
    expect(findHashedNames([file], { sanitizeFileName: upperCased }, asked).size).toBe(1)
    expect(findHashedNames([file], {}, asked).size).toBe(0)
  })

  test('matches any name of an asset', () => {
    const file = asset('assets/a-Czd1YBCc.txt', 'b.txt', 'a.txt')
    expect(findHashedNames([file], {}, askedFor(pattern, 'a.txt')).size).toBe(1)
  })
})

const logo: EmittedAsset = { names: ['logo.svg', 'mark.svg'], source: 'logo' }

describe('createRequestedNames', () => {
  test("calls the user's function like the bundler", () => {
    const output = { calls: [] as unknown[] }
    function byUser(this: unknown, ...parameters: [EmittedAsset]): string {
      output.calls.push([this, ...parameters])
      return '[name].[ext]'
    }
    const assetFileNames = createRequestedNames().record(byUser)
    expect(assetFileNames.call(output, logo)).toBe('[name].[ext]')
    expect(output.calls).toEqual([[output, logo]])
  })

  test('records nothing if the function throws', () => {
    const asked = createRequestedNames()
    const failing = asked.record(() => {
      throw new Error('by the user')
    })
    expect(() => failing(logo)).toThrow('by the user')
    expect(asked.patternsOf('logo.svg').size).toBe(0)
  })
})
