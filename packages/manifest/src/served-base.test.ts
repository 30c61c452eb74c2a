import { OperatorError } from './operator-error.ts'
import { describe, expect, test } from 'vitest'
import { servedBase } from './served-base.ts'

describe('servedBase', () => {
  test.each([
    ['/', '/'],
    ['', '/'],
    ['./', '/'],
    ['/app/', '/app/'],
    ['/app', '/app/'],
    ['/caf%C3%A9/', '/café/'],
    ['/a%2Bb/', '/a+b/'],
    ['/%40scope/a%26b%3Dc/100%25/', '/@scope/a&b=c/100%/'],
    ['https://cdn.example.com/', '/'],
    ['https://cdn.example.com/app/v1/', '/app/v1/'],
    ['https://cdn.example.com/app?x=1', '/app/'],
    ['//cdn.example.com/app/', '/app/'],
  ])('converts %j to %j', (base, expected) => {
    expect(servedBase(base)).toBe(expected)
  })
  test.each([
    ['/a%2Fb/', 'a%2Fb'],
    ['/a%2fb/', 'a%2fb'],
    ['/a%5Cb/', 'a%5Cb'],
    ['/a%3Fb/', 'a%3Fb'],
    ['/a%23b/', 'a%23b'],
    ['/app/a%00b/', 'a%00b'],
    ['/100%/', '100%'],
    ['/caf%C3/', 'caf%C3'],
    ['/a//b/', ''],
    ['https://cdn.example.com/a%2Fb/', 'a%2Fb'],
  ])('rejects %j because of its segment %j', (base, segment) => {
    expect(() => servedBase(base)).toThrow(OperatorError)
    expect(() => servedBase(base)).toThrow(
      `Vite's option "base": ${JSON.stringify(base)} cannot be served because of its segment "${segment}". Choose a base without`,
    )
  })
})
