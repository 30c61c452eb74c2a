import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createRequestFieldsReader } from './read-request-fields.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'

function messageWith(lines: readonly (readonly [string, string])[]): IncomingMessage {
  const message = new IncomingMessage(new Socket())
  message.method = 'GET'
  message.url = '/a'
  message.rawHeaders = lines.flat()
  return message
}

describe('createRequestFieldsReader', () => {
  test('reads every relevant field in any letter case', () => {
    const read = createRequestFieldsReader()
    const message = messageWith([
      ['Range', 'bytes=0-1'],
      ['ACCEPT', 'a'],
      ['if-match', 'b'],
      ['If-Range', 'c'],
      ['If-None-Match', 'd'],
      ['Sec-Fetch-Mode', 'e'],
      ['accept-ENCODING', 'f'],
      ['If-Modified-Since', 'g'],
      ['If-Unmodified-Since', 'h'],
    ])
    expect(read(message)).toEqual({
      method: 'GET',
      target: '/a',
      range: 'bytes=0-1',
      accept: 'a',
      ifMatch: 'b',
      ifRange: 'c',
      ifNoneMatch: 'd',
      secFetchMode: 'e',
      acceptEncoding: 'f',
      ifModifiedSince: 'g',
      ifUnmodifiedSince: 'h',
    })
  })

  test('skips other fields of the same lengths', () => {
    const message = messageWith([
      ['Pragm', 'x'],
      ['Cookie', 'x'],
      ['X-Forwar', 'x'],
      ['Authorization', 'x'],
      ['Sec-Fetch-Dest', 'x'],
    ])
    expect(createRequestFieldsReader()(message)).toEqual(createRequestFields({ target: '/a' }))
  })

  test('joins the lines of a list (RFC 9110 §5.3) and takes the first line of other fields', () => {
    const message = messageWith([
      ['Accept-Encoding', 'br'],
      ['If-None-Match', '"a"'],
      ['If-Modified-Since', 'first'],
      ['accept-encoding', 'gzip'],
      ['if-none-match', '"b"'],
      ['if-modified-since', 'second'],
      ['Accept', 'text/html'],
      ['Accept', '*/*'],
      ['Range', 'bytes=0-1'],
      ['Range', 'bytes=2-3'],
    ])
    expect(createRequestFieldsReader()(message)).toEqual(
      createRequestFields({
        target: '/a',
        acceptEncoding: 'br, gzip',
        ifNoneMatch: '"a", "b"',
        ifModifiedSince: 'first',
        accept: 'text/html, */*',
        range: 'bytes=0-1, bytes=2-3',
      }),
    )
  })

  test('keeps no fields of the previous request', () => {
    const read = createRequestFieldsReader()
    read(
      messageWith([
        ['Range', 'bytes=0-1'],
        ['Accept', 'a'],
        ['If-Match', 'b'],
        ['Sec-Fetch-Mode', 'navigate'],
      ]),
    )
    expect(read(messageWith([]))).toEqual(createRequestFields({ target: '/a' }))
  })

  test('distinguishes an empty field from an absent one', () => {
    expect(createRequestFieldsReader()(messageWith([['Accept-Encoding', '']])).acceptEncoding).toBe('')
  })
})
