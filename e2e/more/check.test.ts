import { cp, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { findProgram } from '../../scripts/find-program.mjs'
import { type CheckRun, runCheck } from '../src/run-check.ts'
import { type RunningCommand, startCommand } from '../src/start-command.ts'
import {
  type Proxy,
  type ProxyOptions,
  startCaddy,
  startNginx,
  startNginxWith,
  startVarnish,
} from '../src/start-proxy.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const { project, dist, command } = inject('packedSpa')

function startServer(): Promise<RunningCommand> {
  return startCommand(command, { args: ['--port', '0'], cwd: project })
}

let server: RunningCommand
let replica: RunningCommand
beforeAll(async () => {
  ;[server, replica] = await Promise.all([startServer(), startServer()])
})
afterAll(async () => {
  await Promise.all([server?.stop(), replica?.stop()])
})

function stopAfterTest(proxy: Proxy): Proxy {
  onTestFinished(() => proxy.stop())
  return proxy
}

async function optionsFor(program: string | undefined): Promise<ProxyOptions> {
  if (program === undefined) throw new Error('the program is neither installed nor a package of this system')
  return { program, origin: server.url, directory: await temporaryFolder() }
}

/** Returns nginx directives that replace a field of serve-dist. */
function replaceField(name: string, value: string): string {
  return `proxy_hide_header ${name}; add_header ${name} "${value}" always;`
}

async function check({ url }: Pick<Proxy, 'url'>, ...args: readonly string[]): Promise<CheckRun> {
  return await runCheck(command, { args: [url.href, '--insecure', ...args], cwd: project })
}

const nginx = await findProgram('nginx')
const varnish = await findProgram('varnishd')
const caddy = await findProgram('caddy')
const isRequired = process.platform === 'linux' && process.env['CI'] !== undefined

describe.skipIf(nginx === undefined && !isRequired)('serve-dist check behind nginx', () => {
  const file = fileURLToPath(new URL('../../deploy/nginx/serve-dist.conf', import.meta.url))

  test.each(['serve-dist.conf', 'serve-dist-cache.conf'])('finds nothing wrong with %s', async (name) => {
    const proxy = stopAfterTest(await startNginx(name, await optionsFor(nginx)))
    expect(await check(proxy)).toEqual({ exitCode: 0, stopped: undefined, findings: {} })
    // Responses from the cache are correct, too.
    expect(await check(proxy)).toEqual({ exitCode: 0, stopped: undefined, findings: {} })
  })

  test('finds nothing wrong with two replicas of the same build', async () => {
    const text = await readFile(file, 'utf8')
    const line = `server ${server.url.host}; server ${replica.url.host};`
    const proxy = stopAfterTest(
      await startNginxWith(text.replace('server 127.0.0.1:4173;', line), await optionsFor(nginx)),
    )
    expect(await check(proxy)).toEqual({ exitCode: 0, stopped: undefined, findings: {} })
  })

  // Each row is one fault in a correct configuration, after its `proxy_pass`.
  test.each<readonly [string, 'error' | 'warning', string, RegExp]>([
    [
      'stripped',
      'warning',
      'proxy_set_header Accept-Encoding "";',
      /zstd.* did not arrive\..*remove proxy_set_header/,
    ],
    [
      'recompressed',
      'warning',
      'gzip on; gzip_types *; gzip_proxied any;',
      /^a proxy compressed these files again \(gzip\).*In nginx, set gzip off/,
    ],
    [
      'other-bytes',
      'error',
      'proxy_set_header Accept-Encoding ""; sub_filter "<head>" "<head><script src=//x.example></script>";',
      /^the content of \/ differs from the build\..*In nginx, remove sub_filter/,
    ],
    ['gone', 'error', 'location /data/ { return 404; }', /^\/data\/species.json gets 404/],
    ['failed', 'error', 'location /data/ { return 444; }', /^no complete response for \/data\/species.json/],
    [
      'redirected',
      'warning',
      'location /data/ { return 301 /elsewhere; }',
      /^\/data\/.* redirects to .*In nginx, /,
    ],
    [
      'no-304',
      'warning',
      'proxy_set_header If-None-Match "";',
      /^no 304 .*In nginx, remove proxy_set_header If-None/,
    ],
    ['no-etag', 'warning', 'proxy_hide_header ETag;', /^no ETag .*In nginx, remove proxy_hide_header ETag/],
    ['no-vary', 'error', 'proxy_hide_header Vary;', /^no Vary: .*In nginx, remove proxy_hide_header Vary/],
    [
      'hashed-not-kept',
      'warning',
      replaceField('Cache-Control', 'no-cache'),
      /hashed files .*In nginx, remove expires/,
    ],
    [
      'page-kept',
      'error',
      'expires 1h;',
      /^Cache-Control of pages \(\/\) is .*3600.*In nginx, remove expires/,
    ],
    ['file-kept', 'warning', 'expires 1h;', /^Cache-Control of files without a hash/],
    ['missing-kept', 'warning', replaceField('Cache-Control', 'max-age=600'), /^the 404 .*may be cached/],
    [
      'media-type',
      'error',
      replaceField('Content-Type', 'text/plain'),
      /^Content-Type of .* is text\/plain\. /,
    ],
    [
      'field-lost',
      'warning',
      'proxy_hide_header X-Content-Type-Options;',
      /^x-content-type-options of \/.* did not arrive/,
    ],
    [
      'broken-coding',
      'error',
      `location /data/ { ${replaceField('Content-Encoding', 'gzip')} proxy_pass http://site; }`,
      /^the gzip body of \/data\/species.json cannot be decoded/,
    ],
    [
      'missing-as-page',
      'error',
      'proxy_intercept_errors on; error_page 404 =200 /;',
      /^200 \(text\/html.*\) for \/assets\/serve-dist-check-\w+\.js, .*In nginx, remove error_page/,
    ],
  ])('finds %s (%s): %s', async (code, level, line, sentence) => {
    const text = await readFile(file, 'utf8')
    const wrong = text.replace('proxy_pass http://site;', `proxy_pass http://site; ${line}`)
    const { exitCode, findings } = await check(
      stopAfterTest(await startNginxWith(wrong, await optionsFor(nginx))),
    )
    expect(findings).toMatchObject({ [code]: expect.stringMatching(sentence) })
    expect(level === 'warning' || exitCode === 1).toBe(true)
  })

  test('finds http1 if TLS offers no HTTP/2', async () => {
    const text = (await readFile(file, 'utf8')).replace(' http2;', ';')
    const { exitCode, findings } = await check(
      stopAfterTest(await startNginxWith(text, await optionsFor(nginx))),
    )
    expect({ exitCode, findings }).toEqual({
      exitCode: 0,
      findings: {
        http1: expect.stringMatching(/^HTTP\/2 is not offered\..*In nginx, write listen 443 ssl http2/),
      },
    })
  })

  test.each([
    [
      'page-aged',
      'proxy_ignore_headers Cache-Control; proxy_cache_valid 200 1h;',
      /keeps pages \(\/.*In nginx, /,
    ],
    ['unasked-coding', 'proxy_ignore_headers Vary;', /without asking for it\..*In nginx, remove Vary from/],
  ])('finds %s behind a cache: %s', async (code, line, sentence) => {
    const folder = path.join(path.dirname(file), 'serve-dist-cache.conf')
    const lines = `proxy_cache site; add_header X-Cache $upstream_cache_status always; ${line}`
    const text = (await readFile(folder, 'utf8')).replaceAll(/proxy_cache site;|add_header X-Cache .*;/g, '')
    const wrong = text.replaceAll('proxy_pass http://site;', `proxy_pass http://site; ${lines}`)
    const { exitCode, findings } = await check(
      stopAfterTest(await startNginxWith(wrong, await optionsFor(nginx))),
    )
    expect(findings).toMatchObject({ [code]: expect.stringMatching(sentence) })
    expect(exitCode).toBe(1)
  })

  test('finds etag-changes if nginx derives tags from the times of two copies', async () => {
    const copy = path.join(await temporaryFolder(), 'dist')
    await cp(dist, copy, { recursive: true })
    const text = `
      upstream replicas { server 127.0.0.1:81; server 127.0.0.1:82; }
      server { listen 80; gzip off; location / { proxy_pass http://replicas; proxy_http_version 1.1; } }
      server { listen unix:ONE/1.sock; root ${dist}; }
      server { listen unix:ONE/2.sock; root ${copy}; }`
    const given = await optionsFor(nginx)
    const placed = text
      .replace('127.0.0.1:81', `unix:${given.directory}/1.sock`)
      .replace('127.0.0.1:82', `unix:${given.directory}/2.sock`)
      .replaceAll('ONE', given.directory)
    const { exitCode, findings } = await check(stopAfterTest(await startNginxWith(placed, given)))
    expect(findings).toMatchObject({
      'etag-changes': expect.stringMatching(
        /^2 different ETags in 6 tries for \/.*from which nginx derives ETags/,
      ),
    })
    expect(exitCode).toBe(1)
  })

  test.each([
    ['401', 'auth_basic "staff"; auth_basic_user_file /dev/null;', /answers 401\. Pass credentials/],
    ['403', 'deny all;', /answers 403/],
    ['429', 'return 429;', /answers 429/],
    ['a login', 'return 302 https://login.example/start;', /redirects to https:\/\/login\.example\/start/],
  ])('stops at %s', async (_what, line, sentence) => {
    const text = await readFile(file, 'utf8')
    const wrong = text.replace('proxy_pass http://site;', `proxy_pass http://site; ${line}`)
    const run = await check(stopAfterTest(await startNginxWith(wrong, await optionsFor(nginx))))
    expect(run).toEqual({ exitCode: 1, stopped: expect.stringMatching(sentence), findings: {} })
  })
})

describe.skipIf(varnish === undefined && !isRequired)('serve-dist check behind Varnish', () => {
  const noGzip = ['http_gzip_support=off']

  test('finds nothing wrong if Varnish does not handle codings', async () => {
    const proxy = stopAfterTest(await startVarnish(await optionsFor(varnish), '', noGzip))
    expect(await check(proxy)).toEqual({ exitCode: 0, stopped: undefined, findings: {} })
    expect(await check(proxy)).toEqual({ exitCode: 0, stopped: undefined, findings: {} })
  })

  test('finds stripped by default because Varnish only supports gzip', async () => {
    const proxy = stopAfterTest(await startVarnish(await optionsFor(varnish), '', []))
    const { findings } = await check(proxy)
    expect(findings).toMatchObject({
      stripped: expect.stringMatching(
        / did not arrive\. A browser loads .*In Varnish, start it with -p http_gzip/,
      ),
    })
  })

  test.each([
    [
      'page-aged',
      'set beresp.ttl = 2m; return (deliver);',
      noGzip,
      /^a cache keeps pages .*In Varnish, do not set beresp.ttl/,
    ],
    ['no-vary', 'unset beresp.http.Vary;', noGzip, /^no Vary: .*In Varnish, keep Vary/],
    [
      'unasked-coding',
      'set beresp.ttl = 2m; unset beresp.http.Vary; return (deliver);',
      noGzip,
      /^clients get .*without asking for it/,
    ],
    [
      'recompressed',
      'set beresp.do_gzip = true;',
      [],
      /^a proxy compressed these files again \(gzip\).*In Varnish, remove do_gzip/,
    ],
  ])('finds %s: %s', async (code, line, parameters, sentence) => {
    const rules = `sub vcl_backend_response { ${line} }`
    const { findings } = await check(
      stopAfterTest(await startVarnish(await optionsFor(varnish), rules, parameters)),
    )
    expect(findings).toMatchObject({ [code]: expect.stringMatching(sentence) })
  })
})

describe.skipIf(caddy === undefined && !isRequired)('serve-dist check behind Caddy', () => {
  test('finds nothing wrong with deploy/caddy/Caddyfile', async () => {
    const proxy = stopAfterTest(await startCaddy(await optionsFor(caddy)))
    expect(await check(proxy)).toEqual({ exitCode: 0, stopped: undefined, findings: {} })
  })

  test('finds shared-etag if Caddy decodes gzip that it requested', async () => {
    const proxy = await startCaddy(await optionsFor(caddy), (text) => text.replace('compression off', ''))
    const { exitCode, findings } = await check(stopAfterTest(proxy))
    expect({ exitCode, findings }).toEqual({
      exitCode: 1,
      findings: {
        'shared-etag': expect.stringMatching(/^the same strong ETag .*In Caddy, turn off compression/),
      },
    })
  })
})
