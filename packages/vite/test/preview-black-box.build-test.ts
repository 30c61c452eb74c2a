import { afterAll } from 'vitest'
import { preview } from 'vite'
import { describeBlackBox } from '../../server/test/support/black-box.ts'
import serveDist from '../src/index.ts'

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

describeBlackBox({
  name: 'vite preview',
  role: 'standalone',
  async start({ directory }) {
    const server = await preview({
      configFile: false,
      root: directory,
      logLevel: 'error',
      plugins: [serveDist()],
      build: { outDir: directory },
      // The requests are for example.org. CORS would add Origin to each Vary.
      preview: { port: 0, host: '127.0.0.1', allowedHosts: true, cors: false },
    })
    closers.push(() => server.close())
    const address = server.httpServer.address()
    if (typeof address !== 'object' || address === null)
      throw new TypeError('the server does not listen on a port')
    return address.port
  },
})
