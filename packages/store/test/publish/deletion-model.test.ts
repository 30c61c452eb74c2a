import { describe, expect, test } from 'vitest'
import { type Change, exploreDeletions, type Weakness } from '../support/deletion-model.ts'

const publishAndPrune: readonly Change[] = [{ build: 'a', keeps: 2 }, { keeps: 1 }]

describe('in every interleaving', () => {
  test.each<[string, readonly Change[]]>([
    ['a publish and a prune', publishAndPrune],
    [
      'two publishes that prune',
      [
        { build: 'a', keeps: 1 },
        { build: 'b', keeps: 1 },
      ],
    ],
  ])('of %s, all kept builds are complete', (_what, changes) => {
    const { states, lost } = exploreDeletions(changes)
    expect(lost).toBeUndefined()
    expect(states).toBeGreaterThan(100)
  })

  test.each<Weakness>(['uses deleted keys', 'ends with a running request', 'lists before it reads'])(
    'a blob is lost if a process %s',
    (weakness) => {
      expect(exploreDeletions(publishAndPrune, weakness).lost).toBeDefined()
    },
  )
})
