import { cutScript, noise, writeFixtureSite } from './fixtures.ts'
import type { PreparedWorkload, Workload } from './workload.ts'

/**
 * The files of HttpArena's static profiles by name, in kilobytes: within the ranges that its documents name for each
 * kind. Text has half of the bytes twice, so that brotli comes as near to their 16 % as it can with real code.
 */
const files: Readonly<Record<string, number>> = {
  'reset.css': 8,
  'layout.css': 12,
  'theme.css': 10,
  'components.css': 200,
  'utilities.css': 15,
  'analytics.js': 12,
  'helpers.js': 13,
  'app.js': 16,
  'vendor.js': 300,
  'router.js': 14,
  'header.html': 55,
  'footer.html': 120,
  'regular.woff2': 18,
  'bold.woff2': 22,
  'logo.svg': 15,
  'icon-sprite.svg': 70,
  'hero.webp': 45,
  'thumb1.webp': 6,
  'thumb2.webp': 8,
  'manifest.json': 3,
}

const names = Object.keys(files)

/** HttpArena's mix of 20 files, in turn, as its load generator asks for them; the bytes are our own. */
export const arenaStatic: Workload = {
  name: 'arena-static',
  title: "20 files of 3 to 300 KB in turn, as HttpArena's static profiles ask for them",
  prepare: prepareArena,
}

/** The same over TLS, as HttpArena's `static-tls` has it. */
export const arenaStaticTls: Workload = {
  name: 'arena-static-tls',
  title: "20 files of 3 to 300 KB in turn, HTTP/1.1 over TLS, as HttpArena's static-tls",
  prepare: async () => ({ ...(await prepareArena()), tls: 'http/1.1' }),
}

/** The same over HTTP/2, with as many streams as HttpArena's `static-h2` has. */
export const arenaStaticHttp2: Workload = {
  name: 'arena-static-h2',
  title:
    "20 files of 3 to 300 KB in turn, HTTP/2 over TLS, 32 streams on each connection, as HttpArena's static-h2",
  prepare: async () => ({ ...(await prepareArena()), tls: 'h2', streams: 32 }),
}

async function prepareArena(): Promise<PreparedWorkload> {
  const bodies = await Promise.all(names.map((name, index) => bodyOf(name, index)))
  const entries = bodies.map((body, index) => [`static/${names[index] ?? ''}`, body] as const)
  return {
    directory: await writeFixtureSite('arena', new Map(entries)),
    requests: entries.map(([file]) => ({
      target: `/${file}`,
      file,
      method: 'GET',
      accept: ['br', 'gzip'],
      acceptEncoding: 'br;q=1, gzip;q=0.8',
    })),
    sequence: names.map((_, index) => index),
    newConnections: false,
  }
}

async function bodyOf(name: string, index: number): Promise<Buffer> {
  const size = (files[name] ?? 0) * 1024
  if (/\.(?:woff2|webp)$/.test(name)) return noise(index, size)
  const half = await cutScript(index * 400_000, size / 2)
  return Buffer.concat([half, half])
}
