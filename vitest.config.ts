import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { loadEngine } from './packages/engine/src/load-binding.ts'

// Tests run the sources: the `source` condition of each package's `exports` needs no build.
const source = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
}

// All but the programs of threads and commands, which Node runs as they were built.
const buildPackages = 'packages/server/test/support/build-packages.ts'

// Libraries colour their output where `CI` is set; what tests read must be the same everywhere.
const env = { NO_COLOR: '1', SERVE_DIST_ENGINE: 'node' }
const setupFiles = 'scripts/prepare-tests.mjs'

// Most of what they do is wait for sockets and processes: twice as many at once as a small machine has cores.
const waiting = Math.max(4, Math.ceil(availableParallelism() * 1.5))
const computing = availableParallelism()
const runtimes = 'packages/server/test/hosts/runtimes.http-test.ts'
const overEngines = [
  'check/check-site',
  'connections/{broken-off,connection,malformed-requests,smuggling}',
  'environment/environment-{looks,module,processes,values}',
  'http/!(any-manifest|cloned-site|send-oracle)',
  'native/*',
  'hosts/{failing-applications,hosts,ssr,upgrades}',
  'operations/{access-log,observe-refusals,ops-server,reload-script,start-primary-operations,watched,watched-http2}',
  'processes/{ask-worker,command,copied-builds,descriptors,early-signals,framework-folders,process,reload-triggers,stop,workers}',
  'speed/file-system-calls',
  'store/{delta-workers,deltas,from-s3,from-store,stages,stalled-s3,store-command,store-workers}',
  'tls/*',
]
/** What a browser shows may take a while on a machine that does other work as well. */
const patient = { poll: { timeout: 15_000, interval: 100 } }
const measuring = 'packages/server/test/speed/*.http-test.ts'
const soaking =
  'packages/server/test/**/{soak,soak-stalled,stalled-clients,stalled-tls-clients,swap-builds,rollback}.slow-test.ts'

/** Only where the addon loads: elsewhere it would be Node's engine again. */
const nativeHttp: TestProjectInlineConfiguration = {
  ...source,
  test: {
    // What clients and operators can tell of a server, once more over the native engine.
    name: 'http-native',
    env: { ...env, SERVE_DIST_ENGINE: 'auto' },
    setupFiles,
    include: overEngines.map((files) => `packages/server/test/${files}.http-test.ts`),
    globalSetup: buildPackages,
    maxWorkers: waiting,
    sequence: { groupOrder: 3 },
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
}

// `pnpm verify` runs unit, unit-precompress, http, speed, build and e2e; `pnpm verify:all` the others too.
export default defineConfig({
  test: {
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          env,
          setupFiles,
          include: ['packages/!(precompress)/{src,test}/**/*.test.ts', 'bench/**/*.test.ts'],
          globalSetup: buildPackages,
          // Most of their time would be spent on loading the same modules once a file.
          pool: 'threads',
          isolate: false,
          maxWorkers: computing,
          sequence: { groupOrder: 1 },
          // Properties are tried on thousands of texts, on machines that do other work as well.
          testTimeout: 20_000,
        },
      },
      {
        ...source,
        test: {
          // Processes, not threads: some of its tests count the descriptors of their process.
          name: 'unit-precompress',
          env,
          setupFiles,
          include: ['packages/precompress/{src,test}/**/*.test.ts'],
          globalSetup: buildPackages,
          maxWorkers: computing,
          sequence: { groupOrder: 2 },
          testTimeout: 20_000,
        },
      },
      {
        ...source,
        test: {
          name: 'http',
          env,
          setupFiles,
          include: ['packages/*/test/**/*.http-test.ts'],
          exclude: [...configDefaults.exclude, measuring, runtimes, 'packages/server/test/native/*'],
          globalSetup: buildPackages,
          maxWorkers: waiting,
          sequence: { groupOrder: 3 },
          // Properties ask thousands of times, on machines that do other work as well.
          testTimeout: 60_000,
          // Certificates and large builds are made beside other tests.
          hookTimeout: 30_000,
        },
      },
      ...(typeof loadEngine() === 'string' ? [] : [nativeHttp]),
      {
        ...source,
        test: {
          // Counts of allocations, modules and calls of the file system: nothing runs beside them.
          name: 'speed',
          env,
          setupFiles,
          include: [measuring],
          globalSetup: buildPackages,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
          testTimeout: 20_000,
        },
      },
      {
        ...source,
        test: {
          name: 'runtimes',
          env,
          setupFiles,
          include: [runtimes],
          globalSetup: buildPackages,
          sequence: { groupOrder: 5 },
          testTimeout: 20_000,
        },
      },
      {
        ...source,
        test: {
          name: 'slow',
          env,
          setupFiles,
          include: ['packages/*/test/**/*.slow-test.ts'],
          exclude: [...configDefaults.exclude, soaking],
          globalSetup: buildPackages,
          maxWorkers: computing,
          sequence: { groupOrder: 6 },
          testTimeout: 240_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'soak',
          env,
          setupFiles,
          include: [soaking],
          globalSetup: buildPackages,
          // They measure memory, or fill the machine.
          fileParallelism: false,
          sequence: { groupOrder: 7 },
          testTimeout: 240_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'build',
          env: { ...env, SERVE_DIST_VITES: '8' },
          setupFiles,
          include: ['packages/*/test/**/*.build-test.ts'],
          globalSetup: buildPackages,
          maxWorkers: computing,
          sequence: { groupOrder: 8 },
          testTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'vites',
          env: { ...env, SERVE_DIST_VITES: '6,7' },
          setupFiles,
          include: ['packages/*/test/**/*.build-test.ts'],
          // Run the newest only, or none.
          exclude: [...configDefaults.exclude, '**/{preview-black-box,policies}.build-test.ts'],
          globalSetup: buildPackages,
          maxWorkers: computing,
          sequence: { groupOrder: 9 },
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          env,
          expect: patient,
          setupFiles,
          include: ['e2e/tests/*.test.ts'],
          globalSetup: 'e2e/src/global-setup.ts',
          provide: { exampleNames: ['spa', 'multi-page'] },
          maxWorkers: computing + 1,
          sequence: { groupOrder: 10 },
          testTimeout: 120_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          // What takes long to build, other runtimes and versions, and real proxies.
          name: 'e2e-more',
          env,
          expect: patient,
          setupFiles,
          include: ['e2e/more/*.test.ts', 'e2e/tests/{every-file,chromium-codings}.test.ts'],
          globalSetup: 'e2e/src/global-setup.ts',
          provide: { exampleNames: ['editor'] },
          maxWorkers: computing,
          sequence: { groupOrder: 11 },
          testTimeout: 240_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          // Each file installs and builds the example of one framework; SERVE_DIST_FRAMEWORKS=all adds older versions.
          name: 'frameworks',
          env,
          expect: patient,
          setupFiles,
          include: ['e2e/frameworks/*.test.ts'],
          globalSetup: 'e2e/frameworks/support/global-setup.ts',
          maxWorkers: computing,
          sequence: { groupOrder: 12 },
          testTimeout: 240_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          // The packed packages, installed by each package manager in a project of its own.
          name: 'installers',
          env,
          setupFiles,
          include: ['e2e/installers/*.test.ts'],
          globalSetup: 'e2e/installers/support/global-setup.ts',
          fileParallelism: false,
          sequence: { groupOrder: 13 },
          testTimeout: 60_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
})
