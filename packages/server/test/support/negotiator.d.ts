// The published types lack `preferred`, which negotiator has since 1.0.
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string | undefined>> })
    encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): string[]
    mediaTypes(available: readonly string[]): string[]
  }
}
