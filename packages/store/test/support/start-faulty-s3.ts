import { afterAll, afterEach } from 'vitest'
import { ensureVersitygw } from '../../../../scripts/ensure-versitygw.mjs'
import { type FaultProxy, startFaultProxy } from './start-fault-proxy.ts'
import { type S3Server, startS3 } from './start-s3.ts'

/** Starts an S3 server, if it is available, and a proxy until the end of the test file. Faults end after each test. */
export async function startFaultyS3(): Promise<{ s3: S3Server; proxy: FaultProxy } | undefined> {
  const program = await ensureVersitygw()
  if (program === undefined) return undefined
  const s3 = await startS3(program)
  const proxy = await startFaultProxy(s3)
  afterEach(() => proxy.fail())
  afterAll(async () => {
    await proxy.stop()
    await s3.stop()
  })
  return { s3, proxy }
}
