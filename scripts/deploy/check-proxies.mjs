import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ask } from './ask.mjs'
import { difference } from './findings.mjs'
import { findProgram } from './find-program.mjs'
import { startCaddy, startNginx } from './start-proxies.mjs'
import { startServer } from './start-server.mjs'

/** @import { Findings } from './findings.mjs' */

/** What a proxy may change: the connection is its own, and it may sign. */
const itsOwn = ['alt-svc', 'connection', 'date', 'keep-alive', 'server', 'via', 'x-cache']

/**
 * Asks the same things of serve-dist and of the proxies in front of it: nothing may differ.
 *
 * @param {{ application: string, directory: string }} place
 * @param {Findings} findings
 */
export async function checkProxies({ application, directory }, findings) {
  const server = await startServer(['node_modules/.bin/serve-dist', '--port', '0'], { cwd: application })
  const origin = server.url.replace(/\/$/, '')
  const requests = requestsFor(readdirSync(join(application, 'dist/assets')))

  const nginx = await findProgram('nginx')
  if (nginx === undefined)
    findings.skip('nginx in front', 'it is not installed, and Debian’s package cannot be had')
  else {
    const common = { program: nginx, origin }
    const front = await startNginx({
      ...common,
      configuration: 'serve-dist.conf',
      directory: join(directory, 'nginx'),
    })
    await noteSame('nginx, with TLS,', { url: front.url, origin, requests }, findings)
    await front.stop()
    const configuration = 'serve-dist-cache.conf'
    const cache = await startNginx({ ...common, configuration, directory: join(directory, 'cache') })
    await noteSame('nginx as a cache', { url: cache.url, origin, requests }, findings)
    await noteCache({ url: cache.url, requests }, findings)
    await cache.stop()
  }
  const caddy = await findProgram('caddy')
  if (caddy === undefined)
    findings.skip('Caddy in front', 'it is not installed, and Debian’s package cannot be had')
  else {
    const front = await startCaddy({ program: caddy, origin, directory: join(directory, 'caddy') })
    await noteSame('Caddy', { url: front.url, origin, requests }, findings)
    await front.stop()
  }
  process.kill(server.pid, 'SIGTERM')
  await server.ended
}

/** @typedef {{ path: string, headers: Record<string, string> }} ProxyRequest */

/**
 * @param {readonly string[]} assets
 * @returns {ProxyRequest[]}
 */
function requestsFor(assets) {
  const script = assets.find((name) => /^vendor-.*\.js$/.test(name))
  const paths = [
    '/',
    `/assets/${script}`,
    '/downloads/data.csv.gz',
    '/files/100%25.txt',
    '/files/a+b.txt',
    '/files/%5Bbrackets%5D.txt',
    '/data/species.json?page=1',
    '/a%2Fb',
    '/assets/gone-12345678.js',
  ]
  const codings = [undefined, 'identity', 'gzip', 'br', 'zstd', 'gzip, deflate, br, zstd', 'gzip;q=1, br;q=0']
  return [
    ...paths.flatMap((path) =>
      codings.map((coding) => ({
        path,
        headers: /** @type {Record<string, string>} */ (
          coding === undefined ? {} : { 'Accept-Encoding': coding }
        ),
      })),
    ),
    { path: '/a/page', headers: { 'Accept-Encoding': 'zstd', 'Sec-Fetch-Mode': 'navigate' } },
    { path: '/robots.txt', headers: { Range: 'bytes=0-9' } },
  ]
}

/**
 * @param {string} name
 * @param {{ url: string, origin: string, requests: readonly ProxyRequest[] }} place
 * @param {Findings} findings
 */
async function noteSame(name, { url, origin, requests }, findings) {
  const problems = []
  let revalidated = 0
  for (const { path, headers } of requests) {
    const direct = await ask(`${origin}${path}`, headers)
    problems.push(...differences(path, headers, [await ask(`${url}${path}`, headers), direct]))
    const { etag } = direct.headers
    if (etag === undefined) continue
    const conditional = { ...headers, 'If-None-Match': etag }
    const again = await ask(`${origin}${path}`, conditional)
    problems.push(...differences(path, conditional, [await ask(`${url}${path}`, conditional), again]))
    revalidated += again.status === 304 ? 1 : 0
  }
  findings.note(
    `${name} changes nothing: ${requests.length} answers, ${revalidated} of them revalidated (304)`,
    problems.length === 0 ? undefined : `${problems.length} differ:\n${problems.slice(0, 3).join('\n')}`,
  )
}

/**
 * @param {string} path
 * @param {Record<string, string>} headers
 * @param {[import('./ask.mjs').Answer, import('./ask.mjs').Answer]} answers
 */
function differences(path, headers, answers) {
  const [found, expected] = answers.map(({ status, sha256, headers: fields }) => {
    // A cache's 304 has the fields of its stored 200.
    const ignored = status === 304 ? [...itsOwn, 'x-content-type-options'] : itsOwn
    const kept = Object.entries(fields).filter(([name]) => !ignored.includes(name))
    return { status, sha256, ...Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))) }
  })
  const problem = difference(found, expected)
  return problem === undefined ? [] : [`${path} ${JSON.stringify(headers)}\n${problem}`]
}

/**
 * @param {{ url: string, requests: readonly ProxyRequest[] }} place
 * @param {Findings} findings
 */
async function noteCache({ url, requests }, findings) {
  const script = requests.find(({ path }) => path.startsWith('/assets/vendor-'))?.path
  const { headers } = await ask(`${url}${script}`, { 'Accept-Encoding': 'zstd' })
  findings.note('a hashed file is answered from the cache', difference(headers['x-cache'], 'HIT'))
}
