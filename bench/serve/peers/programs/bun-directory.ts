// https://bun.com/docs/runtime/http/routing#directory-routes
import { readPeerInput } from './peer-input.ts'

declare const Bun: {
  serve(options: { hostname: string; port: number; routes: Record<string, { dir: string }> }): unknown
}

const { directory, port } = readPeerInput()

Bun.serve({ hostname: '127.0.0.1', port, routes: { '/*': { dir: directory } } })
