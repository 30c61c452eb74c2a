import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { notFound, optionsAnswer, redirectTo } from '../site/answers.ts'
import { relocateAnswer } from './relocate-answer.ts'

const redirect = redirectTo({ status: 308, location: '/docs/' }, '?a=b')

/** Creates a request as a host passes it on. */
function handedOver(fields: object, method = 'GET'): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { method }, fields)
}

function locationOf(fields: object, answer = redirect): string | undefined {
  const { fields: found } = relocateAnswer(answer, handedOver(fields))
  const index = found.indexOf('Location')
  return index === -1 ? undefined : found[index + 1]
}

describe('relocateAnswer', () => {
  test.each([
    ['Node', { url: '/docs?a=b' }, '/docs/?a=b'],
    ['Express at the root', { url: '/docs?a=b', originalUrl: '/docs?a=b', baseUrl: '' }, '/docs/?a=b'],
    ['Express', { url: '/docs?a=b', originalUrl: '/sub/docs?a=b', baseUrl: '/sub' }, '/sub/docs/?a=b'],
    ['Connect', { url: '/docs?a=b', originalUrl: '/sub/docs?a=b' }, '/sub/docs/?a=b'],
    [
      'Express, an absolute form',
      { url: 'http://a/docs', originalUrl: 'http://a/sub/docs', baseUrl: '/sub' },
      '/sub/docs/?a=b',
    ],
    [
      'Connect, an absolute form',
      { url: 'http://a/docs', originalUrl: 'http://a/sub/docs' },
      '/sub/docs/?a=b',
    ],
    ['Express, put back', { url: '/sub/docs', originalUrl: '/sub/docs', baseUrl: '/sub' }, '/docs/?a=b'],
    ['Connect, put back', { url: '/sub/docs', originalUrl: '/sub/docs' }, '/docs/?a=b'],
    ['a rewritten target', { url: '/docs', originalUrl: '/users/jane' }, '/docs/?a=b'],
    ['a target that was rewritten to the root', { url: '/', originalUrl: '/users/jane' }, '/docs/?a=b'],
    [
      'a mount that looks like a host',
      { url: '/docs', originalUrl: '//evil.example/docs', baseUrl: '//evil.example' },
      '/docs/?a=b',
    ],
    ['… by Connect', { url: '/docs', originalUrl: '//evil.example/docs' }, '/docs/?a=b'],
    ['… with a backslash', { url: '/docs', originalUrl: '/\\evil/docs', baseUrl: '/\\evil' }, '/docs/?a=b'],
  ])('relocates a redirect of %s', (_host, request, location) => {
    expect(locationOf(request)).toBe(location)
  })

  test('keeps a redirect to another host', () => {
    const elsewhere = redirectTo({ status: 301, location: 'https://a.example/' }, '')
    expect(locationOf({ url: '/x', originalUrl: '/sub/x', baseUrl: '/sub' }, elsewhere)).toBe(
      'https://a.example/',
    )
  })

  test('prefixes links with the mount, except links to other hosts', () => {
    const link =
      '</a,b.js>; rel=modulepreload, <https://a.example/c.js>; rel=preload, <//d.example/e>; rel=next'
    const page = {
      ...optionsAnswer(),
      fields: ['Access-Control-Expose-Headers', 'Link', 'link', link],
      earlyHints: ['</a.css>; rel=preload; as=style'],
    }
    const found = relocateAnswer(page, handedOver({ url: '/x', originalUrl: '/$1/x', baseUrl: '/$1' }))
    expect(found.fields).toEqual([
      'Access-Control-Expose-Headers',
      'Link',
      'link',
      link.replace('</a', () => '</$1/a'),
    ])
    expect(found.earlyHints).toEqual(['</$1/a.css>; rel=preload; as=style'])
    expect(relocateAnswer(page, handedOver({ url: '/x', originalUrl: '/x', baseUrl: '' }))).toBe(page)
    // The build's own base is the mount.
    expect(relocateAnswer(page, handedOver({ url: '/$1/x', originalUrl: '/$1/x', baseUrl: '/$1' }))).toBe(
      page,
    )
  })

  test('redirects the mount path only if the mount has a page', () => {
    const bare = { url: '/?q', originalUrl: '/sub?q', baseUrl: '/sub' }
    const page = { ...notFound, status: 200 }
    expect(locationOf(bare, page)).toBe('/sub/?q')
    expect(locationOf({ ...bare, originalUrl: '/sub/?q' }, page)).toBeUndefined()
    expect(relocateAnswer(notFound, handedOver(bare))).toBe(notFound)
    expect(relocateAnswer(optionsAnswer(), handedOver(bare, 'OPTIONS'))).toBe(optionsAnswer())
  })
})
