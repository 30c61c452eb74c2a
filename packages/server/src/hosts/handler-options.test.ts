import { describe, expect, test, vi } from 'vitest'
import { type HandlerOptions, resolveHandlerOptions } from './handler-options.ts'

describe('resolveHandlerOptions', () => {
  test('leaves the fallback to the site and prints problems', () => {
    const { fallback, onProblem } = resolveHandlerOptions({})
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onProblem(new Error('a.js: gone'))
    expect(write.mock.calls).toEqual([['serve-dist: a.js: gone\n']])
    write.mockRestore()
    expect(fallback).toBeUndefined()
  })

  test('keeps the given options', () => {
    const given = { fallback: '404', fileSystemFallback: true, onProblem: () => {} } as const
    expect(resolveHandlerOptions(given)).toEqual(given)
  })

  test.each([
    ['{"fallback":"index.html"}', 'fallback: expected one of "spa", "404", "none", found "index.html"'],
    ['{"fileSystemFallback":"false"}', 'fileSystemFallback: expected true or false, found "false"'],
    ['{"fallBack":"spa"}', 'fallBack: unknown option. Did you mean "fallback"?'],
  ])('refuses %s', (text, problem) => {
    const given: HandlerOptions = JSON.parse(text)
    expect(() => resolveHandlerOptions(given)).toThrow(
      expect.objectContaining({ code: 'SD_OPTION_INVALID', message: problem }),
    )
  })
})
