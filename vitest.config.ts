import { defineConfig } from 'vitest/config'

// Tests run the sources: the `source` condition of each package's `exports` needs no build.
const source = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
}

// All but the programs of threads and commands, which Node runs as they were built.
const buildThreads = 'packages/precompress/test/support/build-package.ts'
const buildCommands = 'packages/server/test/support/build-packages.ts'

// Libraries colour their output where `CI` is set; what tests read must be the same everywhere.
const env = { NO_COLOR: '1' }
const setupFiles = 'scripts/seed-properties.mjs'

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
          globalSetup: buildThreads,
          // Most of their time would be spent on loading the same modules once a file.
          pool: 'threads',
          isolate: false,
          // Properties are tried on thousands of texts, on machines that do other work as well.
          testTimeout: 20_000,
        },
      },
      {
        ...source,
        test: {
          // Some of its tests replace modules.
          name: 'unit-precompress',
          env,
          setupFiles,
          include: ['packages/precompress/{src,test}/**/*.test.ts'],
          globalSetup: buildThreads,
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
          globalSetup: buildCommands,
          testTimeout: 20_000,
        },
      },
      {
        ...source,
        test: {
          name: 'slow',
          env,
          include: ['packages/*/test/**/*.slow-test.ts'],
          globalSetup: buildCommands,
          testTimeout: 240_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'build',
          env,
          include: ['packages/*/test/**/*.build-test.ts'],
          globalSetup: buildThreads,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          env,
          include: ['e2e/tests/*.test.ts'],
          globalSetup: 'e2e/src/global-setup.ts',
          testTimeout: 120_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
