/** Creates a value on first use and caches it by its source. The source itself stays plain data. */
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
