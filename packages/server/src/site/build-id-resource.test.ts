import { describe, expect, test } from 'vitest'
import { fakeSite, type FakeSiteOptions, resourceAt } from '../../test/support/fake-site.ts'
import { noRequestFields } from '../protocol/request-fields.ts'
import { decide } from './decide.ts'
import type { Answer } from './site.ts'

const buildId = 'a1'.repeat(8)
const target = '/__serve-dist/build.json'

function ask(options: FakeSiteOptions = {}, more = {}, files = {}): Answer | undefined {
  const site = fakeSite({ 'index.html': 'page', ...files }, { buildId, ...options })
  return decide(site, { ...noRequestFields, target, ...more }, 'spa')
}

const textOf = (answer: Answer | undefined): string =>
  answer?.content.kind === 'memory' ? new TextDecoder().decode(answer.content.bytes) : ''

describe('buildIdResource', () => {
  test('contains the build id and must be revalidated', () => {
    const answer = ask()
    expect(textOf(answer)).toBe(JSON.stringify({ buildId }))
    const fields = ['application/json', 'no-cache', 'nosniff']
    expect(answer).toMatchObject({ status: 200, fields: expect.arrayContaining(fields) })
  })

  test('derives the entity tag from the build id', () => {
    const site = fakeSite({}, { buildId })
    const { entityTag } = resourceAt(site, target).identity
    expect(ask({}, { ifNoneMatch: entityTag })?.status).toBe(304)
    expect(ask({ buildId: 'a2'.repeat(8) }, { ifNoneMatch: entityTag })?.status).toBe(200)
    expect(ask({ buildId: `${buildId}00` }, {})?.status).toBe(200)
  })

  test('is below the base', () => {
    expect(ask({ base: '/app/' })?.status).not.toBe(200)
    expect(ask({ base: '/app/' }, { target: `/app${target}` })?.status).toBe(200)
  })

  test('applies all rules except those for caching', () => {
    const rules = { cors: ['**'], cacheControl: { '**': 'max-age=60' }, headers: { '**': { 'X-A': 'b' } } }
    const fields = ask({ rules })?.fields
    expect(fields).toEqual(expect.arrayContaining(['X-A', 'Access-Control-Allow-Origin', 'no-cache']))
    expect(fields).not.toContain('max-age=60')
  })

  test('loses to a file of the build and to a forced rule', () => {
    expect(textOf(ask({}, {}, { '__serve-dist/build.json': 'own' }))).toBe('own')
    const redirects = [{ from: '/__serve-dist/*', to: '/nowhere', status: 302 as const, force: true }]
    expect(ask({ rules: { redirects } })?.status).toBe(302)
  })
})
