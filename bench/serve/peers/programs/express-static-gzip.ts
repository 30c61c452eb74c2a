import express from 'express'
import expressStaticGzip from 'express-static-gzip'
import { readPeerInput } from './peer-input.ts'

const { directory, port } = readPeerInput()

express()
  .disable('x-powered-by')
  .use(
    expressStaticGzip(directory, {
      enableBrotli: true,
      orderPreference: ['br', 'gzip'],
      serveStatic: { maxAge: '1y', immutable: true },
    }),
  )
  .listen(port, '127.0.0.1')
