import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { buildExample } from '../src/build-example.ts'
import { findProgram } from '../../scripts/find-program.mjs'
import { readManifest } from '../src/read-manifest.ts'
import { sendRequest } from '../src/send-request.ts'
import { runToEnd, startCommand } from '../src/start-command.ts'
import { type Proxy, startNginxWith } from '../src/start-proxy.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'
import { urlOfFile } from '../src/url-of-file.ts'

const nginx = await findProgram('nginx')
const isRequired = process.platform === 'linux' && process.env['CI'] !== undefined
const packedSpa = inject('packedSpa')
const multiPage = fileURLToPath(new URL('../../examples/multi-page', import.meta.url))
// Examples of frameworks are not needed here: their own tests fail if a start warns of a head that is too
// long.
const examples = [packedSpa, ...inject('examples'), await buildExample('multi-page', multiPage)]
const field = 'content-security-policy'

/** Starts nginx with its default settings and an upstream. */
async function startDefaultNginx(origin: URL, more = ''): Promise<Proxy> {
  const site = `server { listen 80; location / { proxy_pass http://127.0.0.1:4173; ${more} } }`
  return await startNginxWith(site, {
    program: nginx ?? 'nginx',
    origin,
    directory: await temporaryFolder(),
  })
}

/** Writes pages named after their number of inline scripts. */
async function writePages(folder: string, counts: readonly number[]): Promise<void> {
  for (const count of counts) {
    const scripts = Array.from(
      { length: count },
      (_none, index) => `<script>run(${count}, ${index})</script>`,
    )
    await writeFile(path.join(folder, `${count}.html`), `<!doctype html>${scripts.join('\n')}`)
  }
}

async function statusOf(url: URL): Promise<number> {
  const { status } = await sendRequest(url, { headers: { 'accept-encoding': 'br' } })
  return status
}

describe.skipIf(nginx === undefined && !isRequired)('nginx with its defaults', () => {
  test.each(examples)('passes on the policy of each page of $name', async ({ project, dist, command }) => {
    const server = await startCommand(command, { args: [dist, '--port', '0', '--csp'], cwd: project })
    const proxy = await startDefaultNginx(server.url)
    try {
      const { base, files } = await readManifest(dist)
      const pages = files.filter(({ mediaType }) => mediaType.startsWith('text/html'))
      expect(pages.length).toBeGreaterThan(0)
      for (const page of pages) {
        const [direct, proxied] = await Promise.all(
          [server, proxy].map(({ url }) => sendRequest(urlOfFile(new URL(base, url), page.path))),
        )
        expect(direct?.headers[field]).toContain("script-src 'self'")
        expect([direct?.status, proxied?.status]).toEqual([200, 200])
        expect(proxied?.headers[field]).toBe(direct?.headers[field])
      }
    } finally {
      await proxy.stop()
      await server.stop()
    }
  })

  test('answers 502 for pages that caused a start warning, until nginx accepts larger heads', async () => {
    const { command } = packedSpa
    const folder = await temporaryFolder()
    await writePages(folder, [50, 70])
    await runToEnd(command, { args: ['compress', folder], cwd: folder })
    const server = await startCommand(command, { args: [folder, '--port', '0', '--csp'], cwd: folder })
    const proxies: Proxy[] = []
    try {
      expect(server.output().errors).toMatch(/csp: the response head of 70\.html has up to 4\.\d kB/)
      proxies.push(await startDefaultNginx(server.url))
      proxies.push(await startDefaultNginx(server.url, 'proxy_buffer_size 16k; proxy_buffers 8 16k;'))
      const urls = proxies.flatMap(({ url }) => [new URL('/50', url), new URL('/70', url)])
      expect(await Promise.all(urls.map(statusOf))).toEqual([200, 502, 200, 200])
    } finally {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      await server.stop()
    }
  })
})
