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

/** Collects the reports of a watcher: certificates as text, and problems. */
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

/** Replaces a file by renaming, like `certbot` and most other programs. */
async function replace(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content)
  await rename(`${file}.new`, file)
}

const patience = { timeout: 10_000 }

describe('watchTlsFiles', () => {
  test('reports a pair whose files are replaced one after the other, but no mixed pair', async () => {
    const files = await writeCertificate()
    const { certificates, problems } = await watch(files)
    const next = makeCertificate()
    await replace(files.key, next.key)
    await replace(files.cert, next.cert)
    await vi.waitFor(() => expect(certificates).toEqual([next.cert]), patience)
    expect(problems).toEqual([])
  })

  test('reports a pair that is written in place', async () => {
    const files = await writeCertificate()
    const { certificates } = await watch(files)
    const next = makeCertificate()
    await writeFile(files.cert, next.cert)
    await writeFile(files.key, next.key)
    await vi.waitFor(() => expect(certificates).toEqual([next.cert]), patience)
  })

  test('reports a pair behind a switched link, as in Kubernetes', async () => {
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

  test('reports a mixed pair once, and later the complete pair', async () => {
    const files = await writeCertificate()
    const { watcher, certificates, problems } = await watch(files)
    const next = makeCertificate()
    await replace(files.cert, next.cert)
    await vi.waitFor(() => expect(problems).toHaveLength(1), patience)
    expect(problems[0]).toMatch(/does not belong to the certificate/)
    // Another change in the folder does not change the content.
    await copyFile(files.cert, `${files.cert}.copy`)
    await rm(`${files.cert}.copy`)
    await replace(files.key, next.key)
    await vi.waitFor(() => expect(certificates).toEqual([next.cert]), patience)
    await watcher.reload()
    expect(problems).toHaveLength(1)
  })

  test('reads unchanged files again on request', async () => {
    const files = await writeCertificate()
    const { watcher, certificates } = await watch(files)
    await watcher.reload()
    expect(certificates).toHaveLength(1)
  })

  test('reports a problem on each request', async () => {
    const files = await writeCertificate()
    const { watcher, problems } = await watch(files)
    await rm(files.key)
    await watcher.reload()
    const before = problems.length
    await watcher.reload()
    expect([before > 0, problems.length - before]).toEqual([true, 1])
    expect(problems.at(-1)).toMatch(/cannot read the key/)
  })
})
