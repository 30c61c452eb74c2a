import { copyFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { makeCertificate, writeCertificate } from '../../../test/support/make-certificate.ts'
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts'
import { readTlsCredentials, type TlsFiles } from './tls-credentials.ts'
import { type TlsFilesWatcher, watchTlsFiles } from './watch-tls-files.ts'

const watchers: TlsFilesWatcher[] = []
afterEach(() => {
  for (const watcher of watchers.splice(0)) watcher.stop()
})

/** What a watcher tells: certificates as text, and problems. */
interface Told {
  readonly watcher: TlsFilesWatcher
  readonly certificates: string[]
  readonly problems: string[]
}

async function watch(files: TlsFiles): Promise<Told> {
  const certificates: string[] = []
  const problems: string[] = []
  const watcher = watchTlsFiles(files, await readTlsCredentials(files), {
    onCredentials: ({ cert }) => certificates.push(cert.toString()),
    onProblem: ({ message }) => problems.push(message),
  })
  watchers.push(watcher)
  return { watcher, certificates, problems }
}

/** As `certbot` and most others do it. */
async function replace(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content)
  await rename(`${file}.new`, file)
}

const patience = { timeout: 10_000 }

describe('watchTlsFiles', () => {
  test('tells of a pair whose halves are replaced one after the other, and of no half', async () => {
    const files = await writeCertificate()
    const { certificates, problems } = await watch(files)
    const next = makeCertificate()
    await replace(files.key, next.key)
    await replace(files.cert, next.cert)
    await vi.waitFor(() => expect(certificates).toEqual([next.cert]), patience)
    expect(problems).toEqual([])
  })

  test('tells of a pair that is written in place', async () => {
    const files = await writeCertificate()
    const { certificates } = await watch(files)
    const next = makeCertificate()
    await writeFile(files.cert, next.cert)
    await writeFile(files.key, next.key)
    await vi.waitFor(() => expect(certificates).toEqual([next.cert]), patience)
  })

  test('tells of a pair behind a link that is moved, as Kubernetes does it', async () => {
    const directory = await temporaryDirectory()
    const [old, next] = [makeCertificate(), makeCertificate()]
    for (const [name, { cert, key }] of Object.entries({ '..1': old, '..2': next })) {
      await mkdir(join(directory, name))
      await writeFile(join(directory, name, 'tls.crt'), cert)
      await writeFile(join(directory, name, 'tls.key'), key)
    }
    await symlink('..1', join(directory, '..data'))
    await symlink('..data/tls.crt', join(directory, 'tls.crt'))
    await symlink('..data/tls.key', join(directory, 'tls.key'))
    const { certificates } = await watch({
      cert: join(directory, 'tls.crt'),
      key: join(directory, 'tls.key'),
    })
    await symlink('..2', join(directory, '..data.new'))
    await rename(join(directory, '..data.new'), join(directory, '..data'))
    await vi.waitFor(() => expect(certificates).toEqual([next.cert]), patience)
  })

  test('tells once of a half that stays alone, and of the pair that it becomes later', async () => {
    const files = await writeCertificate()
    const { watcher, certificates, problems } = await watch(files)
    const next = makeCertificate()
    await replace(files.cert, next.cert)
    await vi.waitFor(() => expect(problems).toHaveLength(1), patience)
    expect(problems[0]).toMatch(/does not belong to the certificate/)
    // Another change in the folder is no other content.
    await copyFile(files.cert, `${files.cert}.copy`)
    await rm(`${files.cert}.copy`)
    await replace(files.key, next.key)
    await vi.waitFor(() => expect(certificates).toEqual([next.cert]), patience)
    await watcher.reload()
    expect(problems).toHaveLength(1)
  })

  test('reads again when it is asked to, whether anything changed or not', async () => {
    const files = await writeCertificate()
    const { watcher, certificates } = await watch(files)
    await watcher.reload()
    expect(certificates).toHaveLength(1)
  })

  test('says what is wrong each time that it is asked', async () => {
    const files = await writeCertificate()
    const { watcher, problems } = await watch(files)
    await rm(files.key)
    await watcher.reload()
    const before = problems.length
    await watcher.reload()
    expect([before > 0, problems.length - before]).toEqual([true, 1])
    expect(problems.at(-1)).toMatch(/the key cannot be read/)
  })
})
