import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { onTestFinished } from 'vitest'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/** An independent static host that sends unchanged files and allows all origins. */
export interface ServedFolder {
  readonly origin: string
  /** The requested paths. */
  readonly asked: string[]
  /** Sets the folder and its URL path. */
  serve(folder: string, base?: string): void
}

/** Starts the host before it has a folder, so that a build can use its origin. */
export async function listenForFolder(fields: Record<string, string> = {}): Promise<ServedFolder> {
  let place = { folder: '', base: '/' }
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    asked.push(pathname)
    const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname
    const file = path.startsWith(place.base) ? join(place.folder, path.slice(place.base.length)) : ''
    readFile(file).then(
      (body) =>
        response
          .writeHead(200, {
            'Content-Type': types[extname(file)] ?? 'application/octet-stream',
            'Access-Control-Allow-Origin': '*',
            ...fields,
          })
          .end(body),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    origin: `http://127.0.0.1:${address.port}`,
    asked,
    serve: (folder, base = '/') => void (place = { folder, base }),
  }
}
