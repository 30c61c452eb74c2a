import { Worker } from 'node:worker_threads'

/** A worker thread that answers one request at a time. */
export interface Thread<Request, Answer> {
  /** Throws the error that ended the thread, also for each later request. */
  readonly ask: (request: Request) => Promise<Answer>
  readonly end: () => Promise<void>
}

/** Starts a worker thread. */
export function startThread<Request, Answer>(program: URL): Thread<Request, Answer> {
  // The thread needs none of the main program's flags, such as loaders and conditions.
  const worker = new Worker(program, { execArgv: [] })
  let settle: { resolve: (answer: Answer) => void; reject: (reason: unknown) => void } | undefined
  let failure: unknown

  const fail = (error: unknown): void => {
    failure ??= error
    settle?.reject(failure)
  }
  worker.on('message', (answer: Answer) => settle?.resolve(answer))
  worker.on('messageerror', fail)
  worker.on('error', fail)
  worker.on('exit', (code) => fail(new Error(`the thread ended with code ${code}`)))

  return {
    ask: async (request) =>
      await new Promise((resolve, reject) => {
        settle = { resolve, reject }
        if (failure === undefined) worker.postMessage(request, [])
        else reject(failure)
      }),
    end: async () => {
      await worker.terminate()
    },
  }
}
