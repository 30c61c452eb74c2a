import { describe, expect, test } from 'vitest'
import { chromiumPath } from '../src/launch-chromium.ts'

const isMissing = chromiumPath === undefined

if (isMissing) {
  console.warn(
    '\n!!! No Chromium on this machine: THE BROWSER TESTS ARE SKIPPED. Set CHROMIUM_PATH, or run `npx --yes pnpm@12 verify` !!!\n',
  )
}

describe('findChromium', () => {
  test.skipIf(isMissing && !process.env['CI'])('finds a Chromium that the browser tests can drive', () => {
    expect(chromiumPath).toBeTypeOf('string')
  })
})
