/** A built example for the command. */
export interface BuiltExample {
  readonly name: string
  /** The folder with its package.json. */
  readonly project: string
  /** The folder that `vite build` wrote. */
  readonly dist: string
  /** The installed command `serve-dist` of this project. */
  readonly command: readonly [string, ...string[]]
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The folders of `examples` that this run builds in its setup. */
    readonly exampleNames: readonly string[]
    readonly examples: readonly BuiltExample[]
    /** The same `spa`, installed from tarballs by npm, in a folder outside of the workspace. */
    readonly packedSpa: BuiltExample
  }
}
