import { mkdir, writeFile } from 'node:fs/promises'
import { release } from 'node:os'
import { join } from 'node:path'
import { benchDirectory, cacheDirectory } from '../bench-directory.ts'
import { runProcess } from '../run-process.ts'
import { readConstantAnswers } from './programs/constant-answers.ts'
import type { LaunchInput, ServerDefinition } from './server-definition.ts'

const program = join(cacheDirectory, 'socket-floor')

/** A loop in C that sends one answer with our fields. The difference from it is the cost of a server. */
export const socketFloor: ServerDefinition = {
  name: 'socket-floor',
  async find() {
    const source = join(benchDirectory, 'serve/peers/programs/socket-floor.c')
    await mkdir(cacheDirectory, { recursive: true })
    try {
      await runProcess('cc', ['-O2', '-o', program, source])
    } catch (error) {
      return `it needs a C compiler for Linux: ${String(error).slice(0, 200)}`
    }
    return {
      // The table shows the version of the system, because the system is measured.
      version: release().split('-')[0] ?? '',
      launch: async (input) => ({
        command: program,
        arguments: [String(input.port), ...(await writeAnswers(input))],
      }),
    }
  },
}

async function writeAnswers({ directory, scratch, requests }: LaunchInput): Promise<readonly string[]> {
  const [first, ...others] = requests
  const answers = await readConstantAnswers(directory, first?.accept ?? [])
  const answer = answers.get(first?.target ?? '')
  if (answer === undefined || others.length > 0) throw new TypeError('it has one answer')
  const { ok, notModified, body } = answer
  const files = [join(scratch, 'answer'), join(scratch, 'answer-to-condition')] as const
  await writeFile(files[0], Buffer.concat([headOf('200 OK', ok), body]))
  await writeFile(files[1], headOf('304 Not Modified', notModified))
  return files
}

function headOf(status: string, fields: readonly (readonly [string, string])[]): Buffer {
  const connection = [
    ['Date', new Date().toUTCString()],
    ['Connection', 'keep-alive'],
    ['Keep-Alive', 'timeout=65'],
  ] as const
  const lines = [...fields, ...connection].map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`, 'latin1')
}
