/** Yields the fields of an answer, which lists names and values alternately. */
export function* fieldPairs({
  fields,
}: {
  readonly fields: readonly string[]
}): Generator<readonly [name: string, value: string], undefined> {
  for (let index = 0; index + 1 < fields.length; index += 2) {
    yield [fields[index] ?? '', fields[index + 1] ?? '']
  }
}
