import { expect, test } from 'vitest'
import { environmentRemedies } from './environment-remedies.ts'

const unset = /^set the variables .+ --env-file <file>/
const invalid = /^correct the values in the environment .+ --env-file$/

test.each([
  ['API_URL: the build requires this environment variable, and it is not set', [unset]],
  ['API_URL: the build requires this environment variable, and it is empty', [unset]],
  ['BACKEND: the address of the rule /api/*: it is not set', [unset]],
  ['basicAuth: the variable USERS: is not set', [unset]],
  ['LIMIT: expected a number such as 10 or 0.5', [invalid]],
  ['API_URL: its bytes are not UTF-8', [invalid]],
  ['TOKEN: the field x-token of the rule /api/*: it has characters that a field cannot contain', [invalid]],
  ['basicAuth: the variable USERS: line 1: expected "name:password", or a line of htpasswd -B', [invalid]],
  // A sentence with the fix.
  ['env file /srv/site.env: line 2 is not UTF-8. Save the file as UTF-8.', []],
  ['env.js: this module of virtual:serve-dist/env is not among the files of dist. Keep it in the build.', []],
])('returns the remedy for %j', (problem, remedies) => {
  expect(environmentRemedies(problem)).toEqual(remedies.map((line) => expect.stringMatching(line)))
})

test('returns each remedy once, for unset variables first', () => {
  const message = 'LIMIT: expected JSON\nAPI_URL: it is not set\nFLAGS: expected JSON'
  expect(environmentRemedies(message)).toEqual([unset, invalid].map((line) => expect.stringMatching(line)))
})
