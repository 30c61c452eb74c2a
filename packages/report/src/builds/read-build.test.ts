import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { manifestPath, pendingPath, stringifyManifest } from '@serve-dist/manifest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readBuild } from './read-build.ts'
import { makeManifest } from '../../test/support/make-manifest.ts'

const manifest = makeManifest([{ path: 'index.html', size: 5 }])

async function makeFolder(manifestText?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-report-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  if (manifestText !== undefined) {
    await mkdir(join(folder, '.serve-dist'))
    await writeFile(join(folder, manifestPath), manifestText)
  }
  return folder
}

describe('readBuild', () => {
  test('reads the manifest of a folder', async () => {
    expect(await readBuild(await makeFolder(stringifyManifest(manifest)))).toEqual(manifest)
  })

  test('reads a manifest by its own path', async () => {
    const folder = await makeFolder(stringifyManifest(manifest))
    expect(await readBuild(join(folder, manifestPath))).toEqual(manifest)
  })

  test('names the command that creates a missing manifest', async () => {
    const folder = await makeFolder()
    await expect(readBuild(folder)).rejects.toThrow(`run: npx serve-dist compress ${folder}`)
  })

  test.each([
    ['with a manifest without variants', stringifyManifest(manifest)],
    ['without a manifest', undefined],
  ])('rejects a folder with a killed compression step, %s', async (_, text) => {
    const folder = await makeFolder(text)
    await mkdir(join(folder, dirname(pendingPath)), { recursive: true })
    await writeFile(join(folder, pendingPath), '{}')
    await expect(readBuild(folder)).rejects.toThrow(/did not finish .*\. Build again/)
    await writeFile(join(folder, '.serve-dist/record.json'), '{"hashed":{}}')
    await expect(readBuild(folder)).rejects.toThrow('the build ended without its compression')
  })

  test('names the absolute path of a missing folder', async () => {
    const folder = join(await makeFolder(), 'dist')
    await expect(readBuild(relative(process.cwd(), folder))).rejects.toThrow(
      `${folder}: the folder does not exist. Build first`,
    )
  })

  test('names the file and every invalid field', async () => {
    const text = stringifyManifest(manifest).replace('"size":5', '"size":"5"').replace('"spa"', '"app"')
    const reading = readBuild(await makeFolder(text))
    await expect(reading).rejects.toMatchObject({
      name: 'OperatorError',
      problems: [
        expect.stringContaining('manifest.json: $.appType: expected one of'),
        expect.stringContaining('manifest.json: $.files[0].size: expected a whole number'),
        expect.stringContaining('Build again'),
      ],
    })
  })
})
