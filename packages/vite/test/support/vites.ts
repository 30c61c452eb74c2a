import type * as newest from 'vite'

/** What the tests use of Vite's module; the types of the newest stand for all. */
export type Vite = Pick<typeof newest, 'build' | 'createBuilder' | 'createServer' | 'preview'>

/** Every major version of Vite that the plugin works with. */
export const vites: readonly { name: string; load: () => Promise<Vite> }[] = [
  { name: 'Vite 6', load: async () => asVite(await import('vite6')) },
  { name: 'Vite 7', load: async () => asVite(await import('vite7')) },
  { name: 'Vite 8', load: () => import('vite') },
]

/** The versions differ in types that the tests do not touch. */
function asVite(module: Record<keyof Vite, unknown>): Vite {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the functions are there, by the parameter's type
  return module as Vite
}
