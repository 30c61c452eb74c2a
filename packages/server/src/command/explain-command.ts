import { OperatorError, type OperatorErrorCode } from '@serve-dist/manifest'
import { explain } from '../explain/explain.ts'
import { say } from '../explain/explanation.ts'
import {
  type ExplainedAnswer,
  formatExplanation,
  formatExplanationAsJson,
} from '../explain/format-explanation.ts'
import { findOnDisk } from '../hosts/find-on-disk.ts'
import { loadSite, loadSiteToInspect } from '../load/load-site.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { createRequestFieldsReader } from '../send/read-request-fields.ts'
import { notFound } from '../site/answers.ts'
import { decideNotFound, fallbackFor } from '../site/decide.ts'
import { isMissingAsset } from '../site/missing-asset.ts'
import type { Site } from '../site/site.ts'
import type { ExplainFlags } from './flags.ts'
import { readRulesAsServed } from '../rules/read-rules.ts'

/** Prints the answer to one request, and the steps that lead to it. */
export async function explainCommand(path: string, directory: string, flags: ExplainFlags): Promise<void> {
  const { site, explained } = await explainRequest(path, directory, flags)
  const format = flags.json === true ? formatExplanationAsJson : formatExplanation
  process.stdout.write(`${format(site, explained)}\n`)
}

/** Explains the answer to one request, by the site that the server would load with the same flags. */
export async function explainRequest(
  path: string,
  directory: string,
  flags: ExplainFlags,
): Promise<{ readonly site: Site; readonly explained: ExplainedAnswer }> {
  const { method, header: given = [], envFile } = flags
  const target = toTarget(path)
  // The fields are the same wherever a body lies, and none is sent.
  const options = {
    rules: await readRulesAsServed(flags),
    // The steps say so of a file that the manifest does not list.
    unlisted: 'ignore',
    memoryBudget: 0,
    ...(envFile !== undefined && { envFile }),
  } as const
  const site = await loadSite(directory, options).catch(async (error: unknown) => {
    if (!(error instanceof OperatorError) || !explainableCodes.has(error.code)) throw error
    process.stderr.write(`serve-dist: warning: a server does not start here:\n${error.message}\n`)
    return await loadSiteToInspect(directory, { ...options, noManifest: true })
  })
  const request = createRequestFieldsReader()({ method, url: target, rawHeaders: given.flat() })
  return { site, explained: { request, given, ...(await explainAnswer(site, request, flags)) } }
}

/** What stops a server, and leaves enough to explain an answer. */
const explainableCodes: ReadonlySet<OperatorErrorCode> = new Set([
  'SD_ENVIRONMENT_INVALID',
  'SD_FOLDER_WRONG',
  'SD_MANIFEST_LOST',
])

/** As a browser sends it: what is no ASCII is escaped, and the server sees no fragment. */
function toTarget(path: string): string {
  if (/^(?:\/|\*$|https?:\/\/)/i.test(path))
    return path.replace(/#.*$/s, '').replaceAll(/[^!-~]+/g, encodeURI)
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `expected a path that begins with a slash, such as /${path}, or a whole address; found "${path}"`,
  )
}

/** Steps 2 to 8 of a request, as `hosts/handler.ts` takes them. */
async function explainAnswer(
  site: Site,
  request: RequestFields,
  { ssr, fsFallback = false }: ExplainFlags,
): Promise<Pick<ExplainedAnswer, 'answer' | 'steps' | 'outcome'>> {
  const fallback = fallbackFor(site, ssr === undefined ? 'standalone' : 'middleware', undefined)
  const first = explain(site, request, fsFallback ? undefined : fallback)
  if (first.answer !== undefined && (ssr === undefined || first.answer.status !== 405)) return first
  const onDisk = first.answer === undefined ? await findOnDisk(site, request) : undefined
  if (onDisk !== undefined && fsFallback) {
    const row = 'Which resource: `fileSystemFallback` and a regular file that appeared after boot'
    const step = say(8, 'the folder has a file of that name', row)
    return { answer: onDisk, steps: [...first.steps, step], outcome: { status: onDisk.status } }
  }
  const { answer, steps, outcome } = fsFallback ? explain(site, request, fallback) : first
  if (answer !== undefined && (ssr === undefined || answer.status !== 405)) return { answer, steps, outcome }
  const unlisted = say(
    8,
    'the folder has a file of that name, but the manifest does not list it: serve-dist compress adds it, unless --exclude left it out',
    'Which resource: A file that came into the folder after its manifest, or that `exclude` left out',
  )
  const isAsset = ssr !== undefined && isMissingAsset(site, request.target)
  const last = isAsset
    ? say(
        8,
        "the path is that of another build's asset, which the application is not asked for",
        'Fallbacks: With `--ssr`, an unknown script, style, font, image or source map in the directory of hashed assets',
      )
    : ssr === undefined
      ? say(8, 'no application stands behind the build (--ssr)', 'Which resource: An unknown path')
      : say(8, `the application ${ssr} is asked`, 'As middleware: What is passed on')
  const isOurs = ssr === undefined || isAsset
  return {
    answer: ssr === undefined ? decideNotFound(site, request, fallback) : isAsset ? notFound : undefined,
    steps: [...steps, ...(onDisk === undefined ? [] : [unlisted]), last],
    outcome: { status: isOurs ? notFound.status : undefined },
  }
}
