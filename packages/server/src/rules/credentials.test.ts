import { describe, expect, test } from 'vitest'
import { parseCredentials, type Secret } from './credentials.ts'

const hash = `$2y$05$${'a'.repeat(53)}`

describe('parseCredentials', () => {
  test('reads passwords and lines of htpasswd -B', () => {
    expect(parseCredentials(`# team\nanna:se:cret\r\n\nbob:${hash}\n`)).toEqual({
      problems: [],
      users: new Map<string, Secret>([
        ['anna', { password: 'se:cret' }],
        ['bob', { hash }],
      ]),
    })
  })

  test.each([
    ['', 'expected a line "name:password"'],
    ['\n# nobody\n', 'expected a line "name:password"'],
    ['secret', 'line 1: expected "name:password", or a line of htpasswd -B'],
    ['anna:', 'line 1: expected "name:password", or a line of htpasswd -B'],
    [':secret', 'line 1: expected "name:password", or a line of htpasswd -B'],
    ['anna:secret\nanna:other', 'line 2: "anna" occurs twice'],
    ['anna:a\u0000b', 'line 1: a control character is not allowed'],
    ['anna:$apr1$salt$hash', 'line 1: only bcrypt hashes'],
    ['anna:{SHA}hash', 'line 1: only bcrypt hashes'],
    ['anna:$2y$05$short', 'line 1: only bcrypt hashes'],
    [`anna:${hash.replace('05', '31')}`, 'line 1: only bcrypt hashes with a cost from 4 to 17'],
  ])('rejects %j', (text, problem) => {
    expect(parseCredentials(text).problems).toEqual([expect.stringContaining(problem)])
  })
})
