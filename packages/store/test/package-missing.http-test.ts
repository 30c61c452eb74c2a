import { execFile } from 'node:child_process'
import { cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../server/test/support/temporary-directory.ts'

const own = fileURLToPath(new URL('..', import.meta.url))

test('openStore names the package that only a bucket needs', async () => {
  const folder = await temporaryDirectory()
  const scope = join(folder, 'node_modules/@serve-dist')
  await mkdir(join(scope, 'store'), { recursive: true })
  await cp(join(own, 'dist'), join(scope, 'store/dist'), { recursive: true })
  await cp(join(own, 'package.json'), join(scope, 'store/package.json'))
  await symlink(await realpath(join(own, 'node_modules/@serve-dist/manifest')), join(scope, 'manifest'))
  const script = `import { openStore } from '@serve-dist/store'
    console.log((await openStore('here')).place)
    await openStore('s3://bucket').catch(({ code, message }) => console.log(code, message))`
  await writeFile(join(folder, 'open.mjs'), script)
  const { stdout } = await promisify(execFile)(process.execPath, ['open.mjs'], { cwd: folder })
  expect(stdout.trim().split('\n')).toEqual([
    join(folder, 'here'),
    'SD_PACKAGE_MISSING a store in S3 needs the package @aws-sdk/client-s3, which is not installed. Run: npm install @aws-sdk/client-s3',
  ])
})
