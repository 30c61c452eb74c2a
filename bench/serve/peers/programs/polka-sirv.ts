import polka from 'polka'
import sirv from 'sirv'
import { readPeerInput } from './peer-input.ts'

const { directory, port } = readPeerInput()

polka()
  .use(sirv(directory, { etag: true, gzip: true, brotli: true, maxAge: 31_536_000, immutable: true }))
  .listen(port, '127.0.0.1')
