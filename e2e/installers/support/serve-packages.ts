import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { packPackages } from '../../../scripts/pack-packages.mjs'
import { runCommand } from '../../../scripts/run-command.mjs'

export interface PackageRegistry {
  readonly url: string
  close(): void
}

/** Starts a registry of this repository's packages, packed as `npm publish` packs them. */
export async function servePackages(folder: string): Promise<PackageRegistry> {
  const bodies = new Map<string, string | Buffer>()
  const server = createServer((request, response) => {
    const body = bodies.get(decodeURIComponent(request.url ?? ''))
    response.writeHead(body === undefined ? 404 : 200, { 'cache-control': 'no-store' })
    response.end(body ?? '{"error":"not found"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${address instanceof Object ? address.port : ''}/`
  for (const { name, version, tarball } of await packPackages(folder)) {
    const bytes = await readFile(tarball)
    const file = `${name}/-/${path.basename(name)}-${version}.tgz`
    const dist = {
      tarball: `${url}${file}`,
      integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
      shasum: createHash('sha1').update(bytes).digest('hex'),
    }
    const manifest = { ...(await readManifest(tarball)), dist }
    // Installers with a minimum release age require the time.
    const time = { modified: released, created: released, [version]: released }
    const tags = { latest: version }
    bodies.set(`/${file}`, bytes)
    bodies.set(
      `/${name}`,
      JSON.stringify({ name, 'dist-tags': tags, versions: { [version]: manifest }, time }),
    )
  }
  return {
    url,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const released = '2026-01-01T00:00:00.000Z'

async function readManifest(tarball: string): Promise<Record<string, unknown>> {
  const { output } = await runCommand(['tar', '-xzOf', tarball, 'package/package.json'], { isQuiet: true })
  const manifest: Record<string, unknown> = JSON.parse(output)
  return manifest
}
