import { join } from 'node:path'
import { contentCodings, manifestPath, recordPath, stateDirectory } from '@serve-dist/manifest'
import { isNegatedPattern } from '@serve-dist/foundation/text/is-negated-pattern'
import { readStateFiles } from '../commit/read-earlier-build.ts'
import { escapeGlob } from '../folder/escape-glob.ts'
import type { FoundRecords } from '../record/find-records.ts'
import { readRecord } from '../record/record-files.ts'

/** The patterns with which the server recognizes source maps, and their variants. */
const deniedMaps = ['', ...contentCodings.map(({ extension }) => extension)].map(
  (extension) => `**/*.{js,mjs,cjs,css,wasm}.map${extension}`,
)

/** Returns the globs of files that must not be published: server code, and the exclusions of builds in subfolders. */
export async function findExcludedGlobs(
  folder: string,
  { main, names, serverFolders }: FoundRecords,
): Promise<{ readonly globs: readonly string[]; readonly reason: string }[]> {
  const left = serverFolders.map((path) => ({
    globs: [`${escapeGlob(path)}/**`],
    reason: `excluded ${path}/, because a build wrote it for a server and browsers must not receive server code`,
  }))
  const { serverChunks = [] } = main?.record ?? {}
  if (serverChunks.length > 0)
    left.push({
      globs: serverChunks.map(escapeGlob),
      reason: `excluded ${serverChunks.join(', ')}, because a build for a server wrote this code into the client's folder. Give that build its own folder (build.outDir).`,
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
    left.push({ globs, reason: `${path}/ is a separate build, so its exclusions also apply here` })
  }
  return left
}
