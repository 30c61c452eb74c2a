/** Returns whether JSON preserves a value with at most `levels` levels of arrays and objects. */
export function isJson(value: unknown, levels: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    case 'object':
      if (value === null) return true
      // Rejects dates, maps and other classes.
      if (levels === 0 || !/^\[object (?:Array|Object)\]$/.test(Object.prototype.toString.call(value)))
        return false
      return Object.values(value).every((item) => isJson(item, levels - 1))
    default:
      return false
  }
}
