import { parentPort } from 'node:worker_threads'
import { compareSync } from 'bcryptjs'
import type { Comparison } from './password-threads.ts'

parentPort?.on('message', ({ password, hash }: Comparison) => {
  parentPort?.postMessage(compareSync(password, hash), [])
})
