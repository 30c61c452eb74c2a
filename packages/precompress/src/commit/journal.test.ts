import { describe, expect, test } from 'vitest'
import { parseJournal, stringifyJournal } from './read-earlier-build.ts'

const sha256 = 'a'.repeat(64)

describe('parseJournal', () => {
  test('reads what stringifyJournal wrote', () => {
    const journal = { replaces: undefined, variants: [{ path: 'a.js.br', sha256 }] }
    expect(parseJournal(stringifyJournal(journal))).toEqual(journal)
  })

  test.each([
    ['', 'JSON'],
    ['{', 'JSON'],
    ['null', 'not a journal'],
    ['[]', 'not a journal'],
    ['{"version":2,"replaces":null,"variants":[]}', 'not a journal'],
    ['{"version":1,"replaces":null}', 'not a journal'],
    ['{"version":1,"replaces":{},"variants":[]}', '$.version'],
    [`{"version":1,"replaces":null,"variants":[{"path":"../a","sha256":"${sha256}"}]}`, 'not a journal'],
    [`{"version":1,"replaces":null,"variants":[{"path":"/etc/x","sha256":"${sha256}"}]}`, 'not a journal'],
    ['{"version":1,"replaces":null,"variants":[{"path":"a","sha256":"x"}]}', 'not a journal'],
    ['{"version":1,"replaces":null,"variants":[null]}', 'not a journal'],
  ])('rejects %j', (text, message) => {
    expect(() => parseJournal(text)).toThrow(message)
  })
})
