import { cutScript, noise, writeFixtureSite } from './fixtures.ts'
import type { PreparedWorkload } from './workload.ts'

/**
 * The files of HttpArena's static profiles with their sizes in kilobytes, within the ranges of its documents. Each text
 * repeats half of its bytes, so that its brotli ratio is near HttpArena's 16 %.
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

/** Makes HttpArena's mix of 20 files with our own bytes, in the order of its load generator. */
export async function prepareArena(): Promise<PreparedWorkload> {
  const bodies = await Promise.all(names.map((name, index) => bodyOf(name, index)))
  const entries = bodies.map((body, index) => [`static/${names[index] ?? ''}`, body] as const)
  return {
    directory: await writeFixtureSite('arena', new Map(entries)),
    requests: entries.map(([file]) => ({
      target: `/${file}`,
      file,
      accept: ['br', 'gzip'],
      acceptEncoding: 'br;q=1, gzip;q=0.8',
    })),
  }
}

async function bodyOf(name: string, index: number): Promise<Buffer> {
  const size = (files[name] ?? 0) * 1024
  if (/\.(?:woff2|webp)$/.test(name)) return noise(index, size)
  const half = await cutScript(index * 400_000, size / 2)
  return Buffer.concat([half, half])
}
