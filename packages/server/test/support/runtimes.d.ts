// The parts of Deno's and Bun's APIs that the test hosts use.
type Answer = (request: Request) => Promise<Response>

declare const Bun: {
  serve(options: { port: number; hostname: string; fetch: Answer }): { port: number }
}

declare const Deno: {
  serve(
    options: {
      port: number
      hostname: string
      automaticCompression: boolean
      onListen(address: { port: number }): void
    },
    answer: Answer,
  ): unknown
}
