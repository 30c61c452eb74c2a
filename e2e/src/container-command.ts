import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

type Command = readonly [string, ...string[]]

/** The changes of a container compared with `docker run` without options. */
export interface ContainerOptions {
  /** A folder to mount at /site. */
  readonly site?: string
  /** Variables besides those of the image. */
  readonly environment?: Readonly<Record<string, string>>
  readonly entrypoint?: Command
}

const dockerfile = readFileSync(
  fileURLToPath(new URL('../../deploy/docker/Dockerfile', import.meta.url)),
  'utf8',
)
const documented: Command = JSON.parse(instruction('ENTRYPOINT'))

/** Starts namespaces in which this user is root. Docker's are the same, except for the network. */
const namespaces: Command = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--map-root-user', '--map-auto']),
  '--mount',
  '--pid',
  '--fork',
  '--kill-child',
]
/** A command that fails if this machine does not allow the namespaces. */
export const namespaceProbe: Command = [...namespaces, 'mount', '--bind', '/tmp', '/tmp']

/** Mounts what Docker mounts. Only then the root file system becomes read-only. */
const mountAndRun = `
root=$1 site=$2
shift 2
mount --bind "$root" "$root"
mount --bind "$site" "$root/site"
mount --rbind /dev "$root/dev"
mount --types proc proc "$root/proc"
mount --options remount,bind,ro "$root"
mount --options remount,bind,ro "$root/site"
exec env --ignore-environment "$@"`

/** Returns a command that runs a root file system as Docker runs an image, with the network of this machine. */
export function treeCommand(root: string, options: ContainerOptions = {}): Command {
  const { site = `${root}/site`, environment = {}, entrypoint = documented } = options
  const [user = '', group = ''] = instruction('USER').split(':')
  const variables = [
    'PATH=/usr/sbin:/usr/bin',
    ...instruction('ENV').split(' '),
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
  ]
  const unshare = ['unshare', `--setuid=${user}`, `--setgid=${group}`, `--root=${root}`]
  const shell = ['sh', '-euc', mountAndRun, 'sh', root, site]
  return [...namespaces, ...shell, ...variables, ...unshare, `--wd=${instruction('WORKDIR')}`, ...entrypoint]
}

/** Returns a command that runs an image with the network of this machine. */
export function dockerCommand(image: string, options: ContainerOptions = {}): Command {
  const { site, environment = {}, entrypoint: [program, ...args] = documented } = options
  const run: Command = ['docker', 'run', '--rm', '--network', 'host', '--read-only', '--cap-drop', 'ALL']
  const volume = site === undefined ? [] : ['--volume', `${site}:/site:ro`]
  const variables = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  return [...run, ...volume, ...variables, '--entrypoint', program, image, ...args]
}

/** Returns the value of the last such instruction in the Dockerfile. */
function instruction(name: string): string {
  const values = dockerfile.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))
  return Array.from(values, ([, value = '']) => value).at(-1) ?? ''
}
