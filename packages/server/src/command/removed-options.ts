// What earlier releases took on the command line and from the environment. Ignoring SOURCE_MAPS=deny would publish source
// maps, so each of them stops the command.

const inConfiguration = (rule: string): string => `write the rule ${rule} in serve-dist.config.json`

/** What replaces each removed flag. A command that still has a flag of this name does not look here. */
export const removedFlags: ReadonlyMap<string, string> = new Map([
  ['--prefer', inConfiguration('prefer')],
  ['--immutable', `${inConfiguration('immutable')}, or run serve-dist compress --immutable`],
  ['--cors', inConfiguration('cors')],
  ['--source-maps', inConfiguration('sourceMaps')],
  ['--fallback', inConfiguration('fallback')],
  ['--csp', inConfiguration('csp')],
  ['--socket-mode', 'write the permissions after the path, such as --socket /run/site.sock:660'],
  ['--verify', 'write --verify without a value: it compares the SHA-256 of every file'],
  ['--unlisted', 'use --force to start although pages are not in the manifest'],
  ['--no-manifest', 'use --force to serve a folder without a manifest as it is'],
  ['--largest-body', 'use --memory-budget: the server holds the smallest bodies in memory'],
  ['--open-files', 'use ulimit -n: the server keeps an eighth of these descriptors open for files'],
  [
    '--store-cache-size',
    'remove it: the cache takes 2 GiB; use the option storeCacheSize of serve() for more',
  ],
  ['--store-interval', 'remove it: the server reads the store every 5 s, and at SIGHUP'],
  ['--concurrency', 'remove it: the command limits its requests'],
  ['--delta-budget', 'remove it, or use --no-deltas: publish makes deltas for 30 s'],
  ['--deltas', 'use serve-dist publish: a server of a store sends deltas'],
  ['--noise', 'remove it: changes below 0.1 % and 64 bytes are noise'],
  ['--minimum-size', 'use the option minimumSize of the plugin, or remove it: 256 bytes is the default'],
  ['--cache-size', 'use the option cacheSize of the plugin, or remove it: 512 MiB is the default'],
])

const removedVariables: Readonly<Record<string, string | undefined>> = {
  SOURCE_MAPS: removedFlags.get('--source-maps'),
  SERVE_DIST_STORE_CACHE_SIZE: removedFlags.get('--store-cache-size'),
  SERVE_DIST_STORE_INTERVAL: removedFlags.get('--store-interval'),
  SERVE_DIST_ENGINE_CHECK: 'the tests of serve-dist compare the answers of both engines',
}

/** Returns one problem for each removed variable that is set; a variable without a value counts as not set. */
export function findRemovedVariables(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(removedVariables)
    .filter(([name]) => (environment[name] ?? '') !== '')
    .map(([name, replacement]) => `the variable ${name} was removed: unset it; ${replacement}`)
}

/** Returns a problem for `--verify size` and `--verify hash`: what follows a switch is the folder. */
export function findRemovedValues(words: readonly string[]): string[] {
  const isOld = words.some(
    (word, index) => word === '--verify' && /^(?:size|hash)$/.test(words[index + 1] ?? ''),
  )
  return isOld ? [`option '--verify' has no value: ${removedFlags.get('--verify')}`] : []
}
