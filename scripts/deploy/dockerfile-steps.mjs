import { readFile } from 'node:fs/promises'
import dockerfileAst from 'dockerfile-ast'

/**
 * One instruction, as far as this repository's Dockerfiles use them.
 *
 * @typedef {{ keyword: 'FROM', stage: string | undefined }
 *   | { keyword: 'WORKDIR' | 'USER' | 'EXPOSE', value: string }
 *   | { keyword: 'ENV', values: Record<string, string> }
 *   | { keyword: 'COPY', from: string | undefined, sources: string[], destination: string }
 *   | { keyword: 'RUN', command: string, caches: string[] }
 *   | { keyword: 'CMD' | 'HEALTHCHECK', command: [string, ...string[]] }} Step
 */

/**
 * Reads a Dockerfile into its steps.
 *
 * @param {string} file
 * @returns {Promise<Step[]>}
 * @throws Error for an instruction, or a form of one, that is not known here.
 */
export async function dockerfileSteps(file) {
  const dockerfile = dockerfileAst.DockerfileParser.parse(await readFile(file, 'utf8'))
  return dockerfile.getInstructions().map((instruction) => {
    const words = instruction.getArguments().map((argument) => argument.getValue())
    const flags = flagsOf(instruction)
    const keyword = instruction.getKeyword()
    switch (keyword) {
      case 'FROM':
        return { keyword, stage: words[2] }
      case 'WORKDIR':
      case 'USER':
      case 'EXPOSE':
        return { keyword, value: words.join(' ') }
      case 'ENV':
        return { keyword, values: Object.fromEntries(words.map(pairOf)) }
      case 'COPY':
        return {
          keyword,
          from: flags.get('from'),
          sources: words.slice(0, -1),
          destination: words.at(-1) ?? '',
        }
      case 'RUN':
        return { keyword, command: words.join(' '), caches: cachesOf(flags.get('mount')) }
      case 'CMD':
        return { keyword, command: execForm(words) }
      case 'HEALTHCHECK':
        return { keyword, command: execForm(words.slice(1)) }
      default:
        throw new Error(`${file}: ${keyword} is not known to scripts/deploy/dockerfile-steps.mjs`)
    }
  })
}

/** @param {import('dockerfile-ast').Instruction} instruction */
function flagsOf(instruction) {
  const flags =
    'getFlags' in instruction && typeof instruction.getFlags === 'function' ? instruction.getFlags() : []
  return new Map(
    flags.map((/** @type {import('dockerfile-ast').Flag} */ flag) => [flag.getName(), flag.getValue() ?? '']),
  )
}

/**
 * @param {string} text
 * @returns {[string, string]}
 */
function pairOf(text) {
  const [name = '', ...value] = text.split('=')
  return [name, value.join('=')]
}

/** @param {string | undefined} mount */
function cachesOf(mount) {
  if (mount === undefined) return []
  const target = /^type=cache,target=(\/[^,]+)$/.exec(mount)?.[1]
  if (target === undefined) throw new Error(`RUN --mount=${mount}: only type=cache,target=… is known`)
  return [target]
}

/**
 * Only the form without a shell hands signals on.
 *
 * @param {string[]} words
 * @returns {[string, ...string[]]}
 */
function execForm(words) {
  const parsed = JSON.parse(words.join(' '))
  return parsed
}
