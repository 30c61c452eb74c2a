import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { encodeDelta } from './delta-codec.ts'
import type { DeltaAnswer, DeltaTask } from './start-delta-process.ts'

process.on('message', (task: DeltaTask) => {
  // The callback ignores that the command has been killed.
  process.send?.(work(task), undefined, undefined, () => {})
})

function work({ codings, dictionary, bytes }: DeltaTask): DeltaAnswer {
  try {
    const deltas = codings.flatMap((coding) => {
      const delta = encodeDelta(coding, { dictionary, bytes })
      return delta === undefined ? [] : [[coding, delta] as const]
    })
    return { deltas: Object.fromEntries(deltas) }
  } catch (error) {
    return { problem: reasonOf(error) }
  }
}
