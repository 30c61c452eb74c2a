// The program that the test kills: it overwrites files, if any are given, and runs the compression step.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { precompress, markUnfinished } from '@serve-dist/precompress'

const [directory = '', optionsText = '{}', filesText = '{}'] = process.argv.slice(2)
const files = Object.entries(JSON.parse(filesText))
if (files.length > 0) await markUnfinished(directory)
for (const [path, content] of files) {
  await mkdir(dirname(join(directory, path)), { recursive: true })
  await writeFile(join(directory, path), content)
}
await precompress(directory, JSON.parse(optionsText))
