/**
 * Returns a hook filter for exactly these ids of virtual modules. Then Rolldown calls the hook for no other module.
 * Versions of Vite before 6.3 ignore filters, so handlers also compare the id.
 */
export function exactly(...ids: readonly string[]): RegExp {
  return new RegExp(`^(?:${ids.join('|')})$`)
}
