import express from 'express'
import { readPeerInput } from './peer-input.ts'

const { directory, port } = readPeerInput()

express()
  .disable('x-powered-by')
  .use(express.static(directory, { maxAge: '1y', immutable: true }))
  .listen(port, '127.0.0.1')
