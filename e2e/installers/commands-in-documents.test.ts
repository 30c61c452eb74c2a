import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../src/send-request.ts'
import { blocks, blocksIn, isNotRun, linesOf, notRun } from './support/document-blocks.ts'
import { type DocumentedSite, prepareSite, needsServerBuild } from './support/documented-site.ts'

const askedServer = /https:\/\/example\.org|http:\/\/127\.0\.0\.1:4173(?=\/)/

/** Replacements of paths that only the documents' example has, and of ports that another program may use. */
const replacements = (here: { folder: string; origin: string }) =>
  [
    [new RegExp(askedServer, 'g'), here.origin],
    [/host:target\//g, 'target/'],
    [/\/srv\/site/g, `${here.folder}/srv`],
    [/\/etc\/systemd\/system/g, `${here.folder}/units`],
    [/--port 8080/g, '--port 0'],
    [/127\.0\.0\.1:9090/g, '127.0.0.1:0'],
    [/51b09ac4e6d2/g, earliestBuild(here.folder)],
  ] satisfies [RegExp, string][]

/** Returns the ID of the oldest build in a folder's store. */
function earliestBuild(folder: string): string {
  const file = path.join(folder, 'srv-store/current.json')
  if (!existsSync(file)) return ''
  const { history }: { history: { id: string }[] } = JSON.parse(readFileSync(file, 'utf8'))
  return history.at(-1)?.id ?? ''
}

const commands = blocksIn('sh').filter(({ code }) => !isNotRun(code.split('\n').slice(0, 2).join('\n')))

test('each code block has a known language, and each exception matches a block', () => {
  const languages = new Set(blocks.map(({ language }) => language))
  // The server's hosts.slow-test.ts starts nginx with its block. image.test.ts executes the block for Docker.
  expect(languages).toEqual(new Set(['sh', 'js', 'ts', 'json', 'yaml', '_redirects', 'nginx', 'dockerfile']))
  const texts = [...blocks.map(({ code }) => code), ...blocks.flatMap(linesOf)]
  expect(notRun.filter(([pattern]) => !texts.some((text) => pattern.test(text)))).toEqual([])
})

describe.skipIf(process.platform === 'win32')('commands in documents', () => {
  let site: DocumentedSite
  beforeAll(async () => {
    site = await prepareSite()
  })
  afterAll(async () => await site.project.remove())

  test.each(commands)('$place', async (block) => {
    const lines = linesOf(block).filter((line) => !isNotRun(line))
    const plain = await site.folderFor(lines.filter((line) => !needsServerBuild(line)).join('\n'))
    const isAsked = lines.some((line) => askedServer.test(line))
    const other = isAsked ? await site.project.start('npx serve-dist', plain) : undefined
    try {
      for (const line of lines) {
        const folder = needsServerBuild(line) ? await site.folderFor(line) : plain
        const text = replacements({ folder, origin: other?.url.origin ?? '' }).reduce(
          (all, [pattern, value]) => all.replaceAll(pattern, value),
          line,
        )
        expect(await outcomeOf(text, folder)).toEqual({ text, outcome: 'done' })
      }
    } finally {
      await other?.stop()
    }
  })

  async function outcomeOf(text: string, folder: string): Promise<{ text: string; outcome: string }> {
    if (
      !/(?<!install.*)serve-dist(\/server)?(?! (compress|report|check|explain|publish|rollback|generations|purge|--help))( |$)/.test(
        text,
      )
    ) {
      // If the folder of packages is a link, npm would replace it.
      const place = text.startsWith('npm install') ? site.project.folder : folder
      const { exitCode, output, errors } = await site.project.run(text, place)
      return { text, outcome: exitCode === 0 ? 'done' : `exit code ${exitCode}:\n${output}${errors}` }
    }
    const server = await site.project.start(text, folder)
    try {
      // On all addresses, the server prints localhost.
      const hostname = text.includes('0.0.0.0') ? 'localhost' : '127.0.0.1'
      const { status } = await sendRequest(server.url)
      const isRight = status === 200 && server.url.hostname === hostname
      return { text, outcome: isRight ? 'done' : `${server.url.hostname} answers ${status}` }
    } finally {
      await server.stop()
    }
  }
})
