// `pnpm start`: three deploys and a rollback while tabs stay open, and a deploy without a store. `--no-browser` uses plain fetches instead of Chromium.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'vite'
import { findRegulars, findVisitors } from './visitors.mjs'

/** @import { Regular, Tab } from './visitors.mjs' */

const bin = fileURLToPath(
  new URL('bin/serve-dist.js', import.meta.resolve('@serve-dist/server/package.json')),
)
const root = fileURLToPath(new URL('.', import.meta.url))
const place = await mkdtemp(path.join(tmpdir(), 'serve-dist-deploys-'))
const store = path.join(place, 'store')

/** The releases that contain a file, by its path. @type {Map<string, number[]>} */
const releasesOf = new Map()
/** The ids of the builds, by release. @type {string[]} */
const ids = []
/** The release that the server serves. */
let current = 1
/** The loaded bytes of each visit of a returning visitor. @type {object[]} */
const visits = []
/** @type {(() => unknown)[]} */
const undo = []
// Also after Ctrl-C, and after the reader of the output has ended.
process.on('exit', () => rmSync(place, { recursive: true, force: true, maxRetries: 5 }))
process.on('SIGINT', () => process.exit(130))

try {
  say(
    'Three releases of a bakery are published into one store. A server follows the store, and tabs stay open.',
  )
  const { whyNoDeltas } = await deploy(1)
  const { origin } = await startServer('--store', store, '--store-cache', path.join(place, 'cache'))
  const wantsBrowser = !process.argv.includes('--no-browser')
  const visitors = await findVisitors(origin, wantsBrowser)
  undo.push(() => visitors.close())
  say(`serve-dist --store … serves it on ${origin}; its visitors are ${visitors.kind}`)

  const regulars = wantsBrowser ? await findRegulars(origin, whyNoDeltas === undefined) : []
  undo.push(...regulars.map((regular) => () => regular.close()))
  await comeBack(regulars)

  const ann = await visitors.newTab()
  await visit(ann, '/', 'Ann opens a tab')

  await deploy(2)
  await isServed(origin, 2)
  await comeBack(regulars)
  await visit(ann, '/bread', "Ann's tab of release 1 opens a page that it has not loaded")
  const ben = await visitors.newTab()
  await visit(ben, '/', 'Ben opens a tab')

  await deploy(3)
  await isServed(origin, 3)
  await comeBack(regulars)
  await visit(ann, '/cakes', "Ann's tab is now two releases old")
  await visit(ben, '/bread', "Ben's tab is one release old")
  const cleo = await visitors.newTab()
  await visit(cleo, '/', 'Cleo opens a tab')

  if (visits.length > 0) {
    say(
      'Bytes that returning visitors load, with and without deltas, if they read all pages of each release:',
    )
    console.table(visits)
    if (whyNoDeltas !== undefined) console.log(whyNoDeltas)
  }

  say('Release 3 is a mistake. serve-dist rollback:')
  await command('rollback', '--store', store)
  await isServed(origin, 2)
  await visit(await visitors.newTab(), '/', 'Dan opens a tab')
  await visit(cleo, '/cakes', "Cleo's tab of the removed release still works")

  say('A name that no build had is a 404, not a page:')
  const { status, headers } = await fetch(`${origin}/assets/bread-00000000.js`)
  console.log(`  ${status}  /assets/bread-00000000.js  (Cache-Control: ${headers.get('cache-control')})`)

  say('The builds in the store. serve-dist generations:')
  await command('generations', '--store', store)

  say('Without a store, as in an image: a server of the folder of release 1')
  const image = await startServer(folderOf(1))
  const visitorsOfImage = await findVisitors(image.origin, wantsBrowser)
  undo.push(() => visitorsOfImage.close())
  current = 1
  const dora = await visitorsOfImage.newTab()
  await visit(dora, '/', 'Dora opens a tab')

  say(
    'Before release 2 replaces it, serve-dist carry adds the files of the running site to the folder of release 2:',
  )
  await command('carry', image.origin, folderOf(2))
  await image.stop()
  await startServer(folderOf(2), '--port', new URL(image.origin).port)
  current = 2
  await visit(dora, '/bread', "Dora's tab of release 1 opens a page that it has not loaded")
  await visit(await visitorsOfImage.newTab(), '/', 'Emil opens a tab')
} finally {
  // Closes the browser before the server.
  for (const step of undo.toReversed()) await step()
}

/** @param {number} release */
function folderOf(release) {
  return path.join(place, `dist-${release}`)
}

/** @param {number} release */
async function deploy(release) {
  const dist = folderOf(release)
  say(`Release ${release}: vite build, then serve-dist publish`)
  process.env['VITE_RELEASE'] = String(release)
  await build({ root, logLevel: 'warn', build: { outDir: dist, emptyOutDir: true } })
  const manifest = JSON.parse(await readFile(path.join(dist, '.serve-dist/manifest.json'), 'utf8'))
  ids[release] = manifest.buildId
  for (const file of manifest.files) {
    releasesOf.set(`/${file.path}`, [...(releasesOf.get(`/${file.path}`) ?? []), release])
  }
  const printed = await command('publish', dist, '--store', store)
  return { whyNoDeltas: /deltas: none: .*/.exec(printed)?.[0] }
}

/**
 * Runs `serve-dist` with arguments, and shows its output.
 *
 * @param {string[]} words
 */
async function command(...words) {
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...words])
  console.log(stdout.trimEnd().replaceAll(/^/gm, '  ').replaceAll(place, '…'))
  return stdout
}

/**
 * Starts a server, on a free port unless the arguments name one.
 *
 * @param {string[]} words
 */
async function startServer(...words) {
  const port = words.includes('--port') ? [] : ['--port', '0']
  const args = [bin, ...words, ...port]
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  process.on('exit', () => server.kill('SIGKILL'))
  const ended = once(server, 'exit')
  const stop = async () => {
    server.kill()
    await ended
  }
  undo.push(stop)
  for await (const line of createInterface({ input: server.stdout })) {
    const [origin] = /http:\/\/[^/\s]+/.exec(line) ?? []
    if (origin !== undefined) return { origin, stop }
  }
  throw new Error('the server ended before it listened')
}

/**
 * Waits until the server has swapped a release in.
 *
 * @param {string} origin
 * @param {number} release
 */
async function isServed(origin, release) {
  for (const giveUp = Date.now() + 20_000; Date.now() < giveUp;) {
    const answer = await fetch(`${origin}/__serve-dist/build.json`)
    const { buildId } = await answer.json()
    if (buildId === ids[release]) {
      current = release
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`the server does not serve release ${release}`)
}

/** @param {Regular[]} regulars */
async function comeBack(regulars) {
  for (const regular of regulars) {
    const bytes = await regular.read(['/', '/bread', '/cakes', '/hours'])
    visits.push({ release: current, deltas: regular.deltas, ...bytes })
  }
}

/**
 * @param {Tab} tab
 * @param {string} page
 * @param {string} what
 */
async function visit(tab, page, what) {
  say(`${what}: ${page}`)
  const { loaded, shows } = await tab.open(page)
  for (const { path: name, status } of loaded) {
    console.log(`  ${status}  ${name.padEnd(30)} ${originOf(name)}`.trimEnd())
  }
  console.log(`  it shows "${shows}"`)
}

/** @param {string} name */
function originOf(name) {
  if (name === '/') return `of release ${current}, like every page`
  const releases = releasesOf.get(name) ?? []
  return releases.length === 1 ? `of release ${releases[0]}` : `of releases ${releases.join(', ')}`
}

/** @param {string} text */
function say(text) {
  console.log(`\n${text}`)
}
