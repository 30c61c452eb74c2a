import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { loadEngine } from './packages/engine/src/load-binding.ts'

type Project = TestProjectInlineConfiguration
type TestOptions = NonNullable<Project['test']>

const hasEngine = typeof loadEngine() !== 'string'
const cores = availableParallelism()
/** For tests that mostly wait for sockets and processes. */
const waiting = Math.max(4, Math.ceil(cores * 1.5))
const shared: TestOptions = {
  env: {
    // Libraries colour their output if `CI` is set; what tests read must be the same everywhere.
    NO_COLOR: '1',
    SERVE_DIST_ENGINE: 'node',
    SERVE_DIST_SEED: process.env['SERVE_DIST_SEED'] ?? '2026',
  },
  setupFiles: 'scripts/prepare-tests.mjs',
  maxWorkers: cores,
  // No test measures time: these limits only end a test that hangs.
  expect: { poll: { timeout: 15_000, interval: 100 } },
  testTimeout: 240_000,
  hookTimeout: 240_000,
}

const http = 'packages/server/test'
const runtimes = `${http}/hosts/runtimes.http-test.ts`
const differential = `${http}/native/differential*.http-test.ts`
const copiedBuilds = `${http}/processes/copied-builds.http-test.ts`
const soaking = `${http}/**/{soak,soak-stalled,swap-builds,rollback}.slow-test.ts`
const stalling = `${http}/connections/{stalled-clients,stalled-tls-clients,proxy-memory}.slow-test.ts`
/** These files take long, and few changes break them. The gate leaves them out; `verify:all` runs them. */
const furtherHttp = [
  'packages/store/test/{s3-faults,deltas/*,publish/races}.http-test.ts',
  // The gate runs these over the native engine only.
  `${http}/processes/*.http-test.ts`,
  `${http}/http/stored-files.http-test.ts`,
  `${http}/{command,oracles}/*.http-test.ts`,
  `${http}/{store/{from-s3,stalled-s3,*-workers,hosts-of-store,stages},check/check-site}.http-test.ts`,
  `${http}/{tls/http2-streams,hosts/{hosts,proxy}}.http-test.ts`,
  `${http}/{environment/*,operations/{access-log,reload-script,start-primary-operations}}.http-test.ts`,
]
const allBuilds = ['packages/*/test/**/*.build-test.ts']
const furtherBuilds = ['packages/vite/test/{environment-*,other-plugins,policy-needs}.build-test.ts']

/** A worker loads a module once for all its test files: a fifth less CPU time for the black-box suites. */
const sharedModules: TestOptions = { isolate: false }

/** Suites run one after the other. */
let groupOrder = 0

/** Defines a suite that runs the sources: the `source` condition of each package's `exports` needs no build. */
function suite(name: string, include: string[], options: TestOptions = {}): Project {
  // Only the programs of threads and commands are built: Node runs them.
  const globalSetup = `${http}/support/build-packages.ts`
  groupOrder += 1
  return {
    resolve: { conditions: ['source'] },
    ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
    test: { ...shared, globalSetup, sequence: { groupOrder }, ...options, name, include },
  }
}

/** Defines a suite that uses the built packages. */
function endToEnd(name: string, include: string[], options: TestOptions): Project {
  const globalSetup = 'e2e/src/global-setup.ts'
  groupOrder += 1
  const sequence = { groupOrder }
  return { test: { ...shared, hookTimeout: 600_000, globalSetup, sequence, ...options, name, include } }
}

const smallExamples: TestOptions = {
  provide: { exampleNames: ['spa', 'multi-page'] },
  maxWorkers: cores + 1,
}
const without = (...patterns: readonly string[]): string[] => [...configDefaults.exclude, ...patterns]

// `pnpm verify` runs unit, unit-precompress, http, http-native, speed, build and e2e; `pnpm verify:all` also runs the others.
const projects: readonly Project[] = [
  suite('unit', ['packages/!(precompress)/{src,test}/**/*.test.ts', 'bench/**/*.test.ts'], {
    ...sharedModules,
    pool: 'threads',
  }),
  // Processes, not threads: some of its tests count the descriptors of their process.
  suite('unit-precompress', ['packages/precompress/{src,test}/**/*.test.ts']),
  suite('http', ['packages/*/test/**/*.http-test.ts'], {
    ...sharedModules,
    exclude: without(`${http}/{speed,native}/*`, runtimes, ...furtherHttp),
    maxWorkers: waiting,
  }),
  suite('http-more', furtherHttp, { ...sharedModules, maxWorkers: waiting }),
  // Without an addon they would be the suites over Node's engine again.
  ...(hasEngine ? nativeSuites() : []),
  // Counts of allocations, modules and calls of the file system: nothing else runs at the same time.
  suite('speed', [`${http}/speed/*.http-test.ts`], { fileParallelism: false }),
  suite('runtimes', [runtimes]),
  suite('slow', ['packages/*/test/**/*.slow-test.ts'], {
    exclude: without(soaking, stalling),
    testTimeout: 240_000,
  }),
  // They measure memory, or fill the machine.
  suite('soak', [soaking], { fileParallelism: false, testTimeout: 240_000 }),
  // A thousand clients that do not read may fill the kernel's memory for TCP. Connections of other tests would break.
  suite('stalled', [stalling], { fileParallelism: false, testTimeout: 240_000 }),
  suite('build', allBuilds, {
    env: { ...shared.env, SERVE_DIST_VITES: '8' },
    exclude: without(...furtherBuilds),
  }),
  suite('build-more', furtherBuilds, { env: { ...shared.env, SERVE_DIST_VITES: '8' } }),
  suite('vites', allBuilds, {
    env: { ...shared.env, SERVE_DIST_VITES: '6,7', SERVE_DIST_PAGES: '200' },
    // It takes the newest only.
    exclude: without('**/preview-black-box.build-test.ts'),
  }),
  endToEnd('e2e', ['e2e/tests/*.test.ts'], smallExamples),
  endToEnd('e2e-further', ['e2e/further/*.test.ts'], smallExamples),
  // Slow builds, other runtimes and versions, and real proxies.
  endToEnd('e2e-more', ['e2e/more/*.test.ts', 'e2e/further/{every-file,chromium-codings}.test.ts'], {
    provide: { exampleNames: ['editor'] },
  }),
  // Each file installs and builds the example of one framework; SERVE_DIST_FRAMEWORKS=all adds older versions.
  endToEnd('frameworks', ['e2e/frameworks/*.test.ts'], {
    globalSetup: 'e2e/frameworks/support/global-setup.ts',
  }),
  // The packed packages, installed by each package manager in a project of its own.
  endToEnd('installers', ['e2e/installers/*.test.ts'], {
    globalSetup: 'e2e/installers/support/global-setup.ts',
    fileParallelism: false,
  }),
]

export default defineConfig({ test: { projects: [...projects] } })

function nativeSuites(): Project[] {
  const env = { ...shared.env, SERVE_DIST_ENGINE: 'auto' }
  const engine: TestOptions = { ...sharedModules, env, maxWorkers: waiting }
  return [
    suite('http-native', [`${http}/{http,connections,processes}/*.http-test.ts`, differential], {
      ...engine,
      exclude: without(copiedBuilds),
    }),
    suite(
      'http-native-more',
      [
        `${http}/{check,environment,hosts,native,operations,store,tls}/*.http-test.ts`,
        `${http}/{speed/file-system-calls,oracles/nginx}.http-test.ts`,
        copiedBuilds,
      ],
      { ...engine, exclude: without(differential, runtimes) },
    ),
  ]
}
