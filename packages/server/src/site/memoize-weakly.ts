/** Makes a value when it is first asked for, and keeps it beside its source: a `Site` stays plain data. */
export function memoizeWeakly<Source extends object, Value, More = void>(
  make: (source: Source, more: More) => Value,
): (source: Source, more: More) => Value {
  const made = new WeakMap<Source, Value>()
  return (source, more) => {
    const known = made.get(source)
    if (known !== undefined) return known
    const value = make(source, more)
    made.set(source, value)
    return value
  }
}
