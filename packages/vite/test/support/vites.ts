import type * as newest from 'vite'

/** What the tests use of Vite's module; the types of the newest stand for all. */
export type Vite = Pick<typeof newest, 'build' | 'createBuilder' | 'createServer' | 'preview'>

/** `8` or `6,7`: `verify` builds with the newest alone, `verify:all` with the others. */
const majors = (process.env['SERVE_DIST_VITES'] ?? '6,7,8').split(',')

/** Whether this run is to test `Vite 8`, or whatever the name says. */
export function isChosen({ name }: { readonly name: string }): boolean {
  return majors.includes(name.slice('Vite '.length))
}

const all: readonly { name: string; load: () => Promise<Vite> }[] = [
  { name: 'Vite 6', load: async () => asVite(await import('vite6')) },
  { name: 'Vite 7', load: async () => asVite(await import('vite7')) },
  { name: 'Vite 8', load: () => import('vite') },
]

/** Every major version of Vite that the plugin works with; `SERVE_DIST_VITES` chooses among them. */
export const vites = all.filter(isChosen)

/** The versions differ in types that the tests do not touch. */
function asVite(module: Record<keyof Vite, unknown>): Vite {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the functions are there, by the parameter's type
  return module as Vite
}
