import { cp, mkdir, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { runCommands } from './migrated-project.ts'

/** The file system and the settings of the last stage of a Dockerfile. */
export interface ContainerImage {
  /** The name of the base image, such as `nginx:1.28`. */
  readonly base: string
  /** The folder with the files of the image: `/` in the Dockerfile. */
  readonly root: string
  readonly workingFolder: string
  readonly environment: Readonly<Record<string, string>>
  readonly command: readonly string[]
}

interface Stage {
  readonly base: string
  readonly name: string
  readonly instructions: readonly (readonly [word: string, value: string])[]
}

/**
 * Follows the instructions of a project's Dockerfile in a folder, without Docker. Supports the instructions of
 * docs/migrate/nginx.md, and throws for others. Omits `node_modules` and `dist` from the context.
 *
 * @param folder - an empty folder for the file systems of the stages.
 */
export async function buildContainerImage(project: string, folder: string): Promise<ContainerImage> {
  const stages = readStages(await readFile(path.join(project, 'Dockerfile'), 'utf8'))
  const images = new Map<string, ContainerImage>()
  let image: ContainerImage | undefined
  for (const [index, stage] of stages.entries()) {
    image = await buildStage(stage, path.join(folder, String(index)), { project, images })
    images.set(stage.name, image)
  }
  if (image === undefined) throw new Error('the Dockerfile has no stage')
  return image
}

function readStages(text: string): readonly Stage[] {
  return text
    .split(/^FROM /m)
    .slice(1)
    .map((part) => {
      const [from = '', ...lines] = part.trim().split('\n')
      const [base = '', name = ''] = from.split(' AS ')
      const instructions = lines
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => [line.split(' ')[0] ?? '', line.replace(/^\S+ /, '')] as const)
      return { base, name, instructions }
    })
}

async function buildStage(
  { base, instructions }: Stage,
  root: string,
  { project, images }: { project: string; images: ReadonlyMap<string, ContainerImage> },
): Promise<ContainerImage> {
  let workingFolder = root
  let environment: Record<string, string> = {}
  let command: readonly string[] = []
  await mkdir(root)
  const resolveInImage = (target: string): string =>
    target.startsWith('/') ? path.join(root, target) : path.join(workingFolder, target)
  for (const [word, value] of instructions) {
    if (word === 'WORKDIR') await mkdir((workingFolder = resolveInImage(value)), { recursive: true })
    else if (word === 'ENV') environment = Object.fromEntries(value.split(' ').map((pair) => pair.split('=')))
    else if (word === 'RUN') await runCommands(value.split(' && '), workingFolder)
    else if (word === 'CMD') command = JSON.parse(value)
    else if (word === 'COPY') {
      const [, stage, source = '', target = ''] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(value) ?? []
      const from = stage === undefined ? project : (images.get(stage)?.root ?? '')
      await copyFiles(path.join(from, source), resolveInImage(target))
    } else if (word !== 'USER') throw new Error(`the test does not know ${word} in a Dockerfile`)
  }
  return { base, root, workingFolder, environment, command }
}

/** Copies a file, the contents of a folder, or all files that match `name*.ending`. */
async function copyFiles(source: string, target: string): Promise<void> {
  if (!source.includes('*')) {
    const isWanted = (file: string): boolean => !/\/(node_modules|dist)$/.test(file) || file === source
    return await cp(source, target, { recursive: true, filter: isWanted })
  }
  const [start = '', end = ''] = path.basename(source).split('*')
  for (const name of await readdir(path.dirname(source))) {
    if (name.startsWith(start) && name.endsWith(end)) {
      await cp(path.join(path.dirname(source), name), path.join(target, name))
    }
  }
}
