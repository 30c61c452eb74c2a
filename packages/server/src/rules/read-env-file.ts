import { readFile } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { describeUnreadable, isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { type EnvironmentSource, OperatorError } from '@serve-dist/manifest'
import { closeDescriptor, openRegularFile } from '../files/open-regular-file.ts'

const readDescriptor = promisify(readFile)

/**
 * Reads the variables of a file in the format of `node --env-file`.
 *
 * @throws OperatorError that names the file and never its content.
 */
export async function readEnvFile(file: string): Promise<EnvironmentSource> {
  const path = resolve(file)
  const refuse = (problem: string): OperatorError =>
    new OperatorError('SD_ENVIRONMENT_INVALID', `env file ${path}: ${problem}`)
  const bytes = await readRegularFile(path).catch((error: unknown) => {
    throw refuse(isNotFoundError(error) ? 'no such file. Name an existing file.' : describeUnreadable(error))
  })
  const text = decode(bytes)
  if (text === undefined)
    throw refuse(`line ${firstUndecodable(bytes)} is not UTF-8. Save the file as UTF-8.`)
  return parseEnv(text)
}

async function readRegularFile(path: string): Promise<Buffer> {
  const { descriptor } = await openRegularFile(path)
  return await readDescriptor(descriptor).finally(() => closeDescriptor(descriptor))
}

/** Decodes UTF-8 and removes the byte order mark. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function firstUndecodable(bytes: Buffer): number {
  const lines = bytes.toString('latin1').split('\n')
  return lines.findIndex((line) => decode(Buffer.from(line, 'latin1')) === undefined) + 1
}
