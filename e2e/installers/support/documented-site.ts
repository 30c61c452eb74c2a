import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { installers } from './installer.ts'
import { type NewProject, newProject, vite } from './new-project.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The project that a reader has before a code block: Vite, the packages, and a build. */
export interface DocumentedSite {
  readonly project: NewProject
  /** Creates a folder for a block, with the build where the block expects it, and the project's packages. */
  folderFor(code: string): Promise<string>
}

const style = `body { background: url('/picture.svg') }\n${'p { margin: 1px }\n'.repeat(40)}`
const application = `export default (request, response) => response.end('rendered')\n`
// The hosts in code blocks.
const hosts = 'express fastify hono @hono/node-server h3 srvx'

/** Tells whether a command expects a build with a browser and a server folder in `dist`. */
export function needsServerBuild(code: string): boolean {
  return /(?<!serve-)dist\/(client|server)/.test(code)
}

export async function prepareSite(): Promise<DocumentedSite> {
  const [npm] = installers
  if (npm === undefined) throw new Error('there is no npm')
  const project = await newProject(npm)
  await project.write('src/style.css', style)
  await project.write('src/later.ts', "import './style.css'\n")
  await project.write('public/picture.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await project.write('public/_shell.html', '<!doctype html><title>Shell</title>')
  await project.write(
    'vite.config.ts',
    "import { defineConfig } from 'vite'\nimport serveDist from '@serve-dist/vite'\nexport default defineConfig({ plugins: [serveDist()] })\n",
  )
  const ours =
    '@serve-dist/server @serve-dist/vite @serve-dist/precompress @serve-dist/report @serve-dist/store @serve-dist/manifest'
  for (const line of [`npm install ${vite} ${ours} pino prom-client ws ${hosts}`, 'npx vite build']) {
    const { exitCode, output, errors } = await project.run(line)
    if (exitCode !== 0) throw new Error(`${line} failed:\n${output}${errors}`)
  }
  const place = path.dirname(project.folder)
  const folderFor = async (code: string) => {
    const around = await mkdtemp(path.join(place, 'block-'))
    const folder = path.join(around, 'site')
    await cp(project.folder, folder, {
      recursive: true,
      filter: (file) => path.basename(file) !== 'node_modules',
    })
    await symlink(path.join(project.folder, 'node_modules'), path.join(folder, 'node_modules'))
    await cp(path.join(root, 'deploy'), path.join(folder, 'deploy'), { recursive: true })
    const built = path.join(project.folder, 'dist')
    for (const copy of ['build/client', '../before/dist'])
      await cp(built, path.join(folder, copy), { recursive: true })
    await mkdir(path.join(folder, 'before'))
    await cp(path.join(built, '.serve-dist/manifest.json'), path.join(folder, 'before/manifest.json'))
    await mkdir(path.join(folder, 'units'))
    await mkdir(path.join(folder, 'srv/builds'), { recursive: true })
    await cp(path.join(folder, '.npmrc'), path.join(folder, 'srv/.npmrc'))
    await writeFile(path.join(folder, 'stage.env'), 'API_URL=https://api.example.org\n')
    if (code.includes('compress public'))
      await cp(path.join(folder, 'public/_shell.html'), path.join(folder, 'public/index.html'))
    if (code.includes('dist-app dist-admin')) {
      const line = 'npx vite build --outDir dist-app && npx vite build --base /admin/ --outDir dist-admin'
      const { exitCode, errors } = await project.run(line, folder)
      if (exitCode !== 0) throw new Error(`${line} failed:\n${errors}`)
    }
    if (code.includes('server/api.js')) {
      await mkdir(path.join(folder, 'server'))
      await writeFile(path.join(folder, 'server/api.js'), application)
    }
    // Publish two builds, so that a rollback is possible. One has the ID in the document.
    if (/--store|SERVE_DIST_STORE|\{ store:/.test(code)) {
      const earlier = `sed -i 's/A page/Before/' dist/index.html && npx serve-dist compress dist`
      const publish = 'npx serve-dist publish --store srv-store'
      const line = `mv dist kept && cp -r kept dist && ${earlier} && ${publish} && rm -r dist && mv kept dist && ${publish}`
      const { exitCode, errors } = await project.run(line, folder)
      if (exitCode !== 0) throw new Error(`${line} failed:\n${errors}`)
    }
    if (needsServerBuild(code)) {
      // The layout of frameworks: a folder of the client and one of the server.
      await rm(path.join(folder, 'dist'), { recursive: true })
      await cp(built, path.join(folder, 'dist/client'), { recursive: true })
      await mkdir(path.join(folder, 'dist/server'))
      for (const name of ['entry', 'server'])
        await writeFile(path.join(folder, `dist/server/${name}.js`), application)
    }
    return folder
  }
  return { project, folderFor }
}
