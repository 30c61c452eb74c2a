/** One example, built and ready to be served by the command. */
export interface BuiltExample {
  readonly name: string
  /** The folder that holds its package.json. */
  readonly project: string
  /** The folder that `vite build` made. */
  readonly dist: string
  /** The command `serve-dist` as this project has it installed. */
  readonly command: readonly [string, ...string[]]
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The folders of `examples` that this run of tests builds before it begins. */
    readonly exampleNames: readonly string[]
    readonly examples: readonly BuiltExample[]
    /** The same `spa`, installed from tarballs by npm, in a folder outside of the workspace. */
    readonly packedSpa: BuiltExample
  }
}
