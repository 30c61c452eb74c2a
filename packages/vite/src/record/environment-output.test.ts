import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createEnvironmentOutput, type OutputOptions } from './environment-output.ts'
import type { BundledFile } from './hashed-names.ts'

const once = { workerNames: new Set<string>(), isWatched: false }
const dist: OutputOptions = { dir: resolve('dist') }
const other: OutputOptions = { dir: resolve('other') }
const index: BundledFile = {
  type: 'chunk',
  preliminaryFileName: 'assets/index-!~{001}~.js',
  fileName: 'assets/index-Dvjc6kbW.js',
}
const worker: BundledFile = { type: 'asset', fileName: 'assets/w-RWCFSJJH.js', names: [] }

function bundle(...files: BundledFile[]): Record<string, BundledFile> {
  return Object.fromEntries(files.map((file) => [file.fileName, file]))
}

describe('createEnvironmentOutput', () => {
  test('gives the folders of a build once', () => {
    const output = createEnvironmentOutput(once)
    output.beginOutput(dist)
    output.endOutput(dist, bundle(index))
    expect(output.takeFolders()).toEqual([dist.dir])
    expect(output.takeFolders()).toEqual([])
  })

  test('gives none of a build that wrote nothing', () => {
    const output = createEnvironmentOutput(once)
    expect(output.takeFolders()).toEqual([])
    output.beginOutput(dist)
    expect(output.takeFolders()).toEqual([])
  })

  test('gives none when a later output failed, and all when the next build succeeds', () => {
    const output = createEnvironmentOutput(once)
    output.beginOutput(dist)
    output.endOutput(dist, bundle(index))
    output.beginOutput(other)
    expect(output.takeFolders()).toEqual([])
    for (const options of [dist, other]) {
      output.beginOutput(options)
      output.endOutput(options, bundle(index))
    }
    expect(output.takeFolders()).toEqual([dist.dir, other.dir])
  })

  test('gives none when the build began again and has written nothing yet', () => {
    const output = createEnvironmentOutput(once)
    output.beginBuild()
    output.beginOutput(dist)
    output.endOutput(dist, bundle(index))
    output.beginBuild()
    expect(output.takeFolders()).toEqual([])
  })

  test.each([
    {
      what: 'gives those of the build before when the next watched one fails',
      error: new Error('no'),
      count: 1,
    },
    { what: 'gives none when the next watched build is about to write', error: undefined, count: 0 },
  ])('$what', async ({ error, count }) => {
    const output = createEnvironmentOutput({ ...once, isWatched: true })
    output.beginBuild()
    output.endBuild(undefined)
    output.beginOutput(dist)
    output.endOutput(dist, bundle(index))
    output.beginBuild()
    const isLast = output.isLast()
    output.endBuild(error)
    expect(await isLast).toBe(count > 0)
    expect(output.takeFolders()).toHaveLength(count)
  })

  test('gives none of a watched build of which one output failed, until it is written', async () => {
    const output = createEnvironmentOutput({ ...once, isWatched: true })
    const build = (options: OutputOptions, isWritten: boolean): void => {
      output.beginBuild()
      output.endBuild(undefined)
      output.beginOutput(options)
      if (isWritten) output.endOutput(options, bundle(index))
    }
    build(dist, false)
    build(other, true)
    expect(await output.isLast()).toBe(true)
    expect(output.takeFolders()).toEqual([])
    build(dist, true)
    expect(output.takeFolders()).toEqual([other.dir, dist.dir])
  })

  test('gives those of a watched build again to the build that is closed later', () => {
    const output = createEnvironmentOutput({ ...once, isWatched: true })
    output.beginBuild()
    output.endBuild(undefined)
    output.beginOutput(dist)
    output.endOutput(dist, bundle(index))
    for (const areTaken of [false, true]) {
      expect(output.areTaken()).toBe(areTaken)
      expect(output.takeFolders()).toEqual([dist.dir])
    }
    output.beginBuild()
    output.endBuild(undefined)
    expect(output.takeFolders()).toEqual([])
    output.beginOutput(dist)
    expect(output.areTaken()).toBe(false)
  })

  test('gives none while an output is written, which another one in its folder was before', () => {
    const output = createEnvironmentOutput(once)
    const classic = { ...dist, format: 'iife' }
    output.beginOutput(dist)
    output.beginOutput(classic)
    output.endOutput(dist, bundle(index))
    expect(output.takeFolders()).toEqual([])
    output.endOutput(classic, bundle(index))
    expect(output.takeFolders()).toEqual([dist.dir])
  })

  test('keeps what one output wrote when the build begins again for the next', () => {
    const output = createEnvironmentOutput(once)
    for (const options of [dist, other]) {
      output.beginBuild()
      output.beginOutput(options)
      output.endOutput(options, bundle(index))
    }
    expect(output.isHashed(resolve('dist/assets/index-Dvjc6kbW.js'))).toBe(true)
    expect(output.isHashed(resolve('other/assets/index-Dvjc6kbW.js'))).toBe(true)
  })

  test('knows a file of a worker only when the worker hashed it and the build emitted it', () => {
    const output = createEnvironmentOutput({
      ...once,
      workerNames: new Set([worker.fileName, 'assets/gone-RWCFSJJH.js']),
    })
    output.endOutput(dist, bundle(worker, { ...worker, fileName: 'assets/x-RWCFSJJH.js' }))
    expect(output.isHashed(resolve('dist/assets/w-RWCFSJJH.js'))).toBe(true)
    expect(output.isHashed(resolve('dist/assets/x-RWCFSJJH.js'))).toBe(false)
    expect(output.isHashed(resolve('dist/assets/gone-RWCFSJJH.js'))).toBe(false)
  })

  test('knows an asset only where its name was asked for', () => {
    const output = createEnvironmentOutput(once)
    const logo: BundledFile = { type: 'asset', fileName: 'assets/logo-Czd1YBCc.svg', names: ['logo.svg'] }
    output.askedNames(dist).record('assets/[name]-[hash].[ext]')({ names: ['logo.svg'], source: '' })
    for (const options of [dist, other]) output.endOutput(options, bundle(logo))
    expect(output.isHashed(resolve('dist/assets/logo-Czd1YBCc.svg'))).toBe(true)
    expect(output.isHashed(resolve('other/assets/logo-Czd1YBCc.svg'))).toBe(false)
  })

  test('forgets a name that a later build uses without a hash', () => {
    const output = createEnvironmentOutput(once)
    output.endOutput(dist, bundle(index))
    output.endOutput(dist, bundle({ ...index, preliminaryFileName: index.fileName }))
    expect(output.isHashed(resolve('dist/assets/index-Dvjc6kbW.js'))).toBe(false)
  })
})
