import { join } from 'node:path'
import { contentCodings, manifestPath, recordPath, stateDirectory } from '@serve-dist/manifest'
import { isNegatedPattern } from '@serve-dist/foundation/text/is-negated-pattern'
import { readStateFiles } from '../commit/read-earlier-build.ts'
import { escapeGlob } from '../folder/escape-glob.ts'
import type { FoundRecords } from '../record/find-records.ts'
import { readRecord } from '../record/record-files.ts'

/** As the server knows maps; another pass may have made variants of them. */
const deniedMaps = ['', ...contentCodings.map(({ extension }) => extension)].map(
  (extension) => `**/*.{js,mjs,cjs,css,wasm}.map${extension}`,
)

/** What nobody may be sent of what other builds wrote inside this folder: a server's code, and what they leave out. */
export async function findExcludedGlobs(
  folder: string,
  { main, names, serverFolders }: FoundRecords,
): Promise<{ readonly globs: readonly string[]; readonly reason: string }[]> {
  const left = serverFolders.map((path) => ({
    globs: [`${escapeGlob(path)}/**`],
    reason: `${path}/ is left out: a build wrote it for a server, and browsers must not be sent it`,
  }))
  const { serverChunks = [] } = main?.record ?? {}
  if (serverChunks.length > 0)
    left.push({
      globs: serverChunks.map(escapeGlob),
      reason: `${serverChunks.join(', ')} left out: a build for a server wrote this into the folder of the client; give that build a folder of its own (build.outDir)`,
    })
  const states = names.filter((name) => name.endsWith(`/${manifestPath}`) || name.endsWith(`/${recordPath}`))
  const builds = new Set(states.map((name) => name.slice(0, name.lastIndexOf(`/${stateDirectory}/`))))
  for (const path of [...builds].filter((build) => !serverFolders.includes(build)).toSorted()) {
    const { manifest } = await readStateFiles(join(folder, path))
    const { selection = {}, serving } = manifest ?? readRecord(join(folder, path)) ?? {}
    const globs = [
      ...(selection.exclude ?? []),
      ...(selection.include ?? []).filter(isNegatedPattern).map((glob) => glob.slice(1)),
      ...(serving?.sourceMaps === 'deny' ? deniedMaps : []),
    ].map((glob) => `${escapeGlob(path)}/${glob}`)
    left.push({ globs, reason: `${path}/ is a build of its own: what it leaves out is left out here too` })
  }
  return left
}
