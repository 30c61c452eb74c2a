// Options of earlier releases. Each of them stops the command, because ignoring SOURCE_MAPS=deny, for example, would
// publish source maps.

const inConfiguration = (rule: string): string => `write the rule ${rule} in serve-dist.config.json`

/** The replacements of removed flags. Commands that still have a flag of the same name do not use this table. */
export const removedFlags: ReadonlyMap<string, string> = new Map([
  ['--prefer', inConfiguration('prefer')],
  ['--immutable', `${inConfiguration('immutable')}, or run serve-dist compress --immutable`],
  ['--cors', inConfiguration('cors')],
  ['--source-maps', inConfiguration('sourceMaps')],
  ['--fallback', inConfiguration('fallback')],
  ['--csp', `set the variable CSP, or ${inConfiguration('csp')}`],
  ['--socket-mode', 'write the permissions after the path, such as --socket /run/site.sock:660'],
  ['--verify', 'write --verify without a value: it compares the SHA-256 of every file'],
  ['--unlisted', 'use --force to start although pages are not in the manifest'],
  ['--no-manifest', 'use --force to serve a folder without a manifest'],
  ['--largest-body', 'use --memory-budget: the server holds the smallest bodies in memory'],
  ['--open-files', 'use ulimit -n: the server keeps an eighth of these descriptors open for files'],
  [
    '--store-cache-size',
    'remove it: the cache takes up to 2 GiB; set the option storeCacheSize of serve() to change that',
  ],
  ['--store-interval', 'remove it: the server reads the store every 5 s and on SIGHUP'],
  ['--concurrency', 'remove it: the command limits its requests'],
  ['--delta-budget', 'remove it, or use --no-deltas: publish makes deltas for 30 s'],
  ['--deltas', 'use serve-dist publish: the server sends deltas if it serves a store'],
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

/** Returns a problem for each removed variable that has a value. */
export function findRemovedVariables(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(removedVariables)
    .filter(([name]) => (environment[name] ?? '') !== '')
    .map(([name, replacement]) => `the variable ${name} was removed. Unset it: ${replacement}`)
}

/** Returns a problem for `--verify size` and `--verify hash`, where commander would take the value as the folder. */
export function findRemovedValues(words: readonly string[]): string[] {
  const isOld = words.some(
    (word, index) => word === '--verify' && /^(?:size|hash)$/.test(words[index + 1] ?? ''),
  )
  return isOld ? [`option '--verify' has no value: ${removedFlags.get('--verify')}`] : []
}
