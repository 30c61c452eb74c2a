import { terminalWidth, wrapText } from '@serve-dist/foundation/terminal/wrap-text'
import { OperatorError, type OperatorErrorCode } from '@serve-dist/manifest'
import type { ExplainedStep } from '../explain/describe-reason.ts'
import { explain, type Explanation } from '../explain/explain.ts'
import {
  type ExplainedAnswer,
  formatExplanation,
  formatExplanationAsJson,
} from '../explain/format-explanation.ts'
import type { HttpTopic } from '../explain/http-topic.ts'
import { findOnDisk } from '../hosts/find-on-disk.ts'
import { loadProtectedSite, loadSiteToInspect } from '../load/load-site.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { createRequestFieldsReader } from '../send/read-request-fields.ts'
import { methodNotAllowed, notFound } from '../site/answers.ts'
import { decideNotFound, fallbackFor } from '../site/decide.ts'
import { isMissingAsset } from '../site/missing-asset.ts'
import type { Site } from '../site/site.ts'
import type { ExplainFlags } from './flags.ts'
import { readRulesAsServed } from '../rules/read-rules.ts'

/** Prints the answer to a request and the steps that lead to it. */
export async function explainCommand(path: string, directory: string, flags: ExplainFlags): Promise<void> {
  const target = toTarget(path)
  const site = await loadExplainedSite(directory, flags)
  const explained = await explainRequest(site, target, flags)
  const format = flags.json === true ? formatExplanationAsJson : formatExplanation
  const columns = flags.json === true ? undefined : terminalWidth(process.stdout)
  process.stdout.write(`${wrapText(format(site, explained), columns, '   ')}\n`)
}

/** Loads the site that the server would serve with the same flags, also if the server would not start. */
export async function loadExplainedSite(directory: string, flags: ExplainFlags): Promise<Site> {
  const { envFile } = flags
  const options = {
    rules: await readRulesAsServed(flags),
    // The steps report a file that the manifest does not list.
    unlisted: 'ignore',
    ...(envFile !== undefined && { envFile }),
  } as const
  return loadProtectedSite(directory, options).catch(async (error: unknown) => {
    if (!(error instanceof OperatorError) || !explainableCodes.has(error.code)) throw error
    process.stderr.write(`serve-dist: warning: the server would not start:\n${error.message}\n`)
    return await loadSiteToInspect(directory, { ...options, noManifest: true })
  })
}

/** Explains the answer that the server would send with the same flags. */
export async function explainRequest(
  site: Site,
  target: string,
  flags: ExplainFlags,
): Promise<ExplainedAnswer> {
  const { method, header: given = [] } = flags
  const request = createRequestFieldsReader()({ method, url: target, rawHeaders: given.flat() })
  return { request, given, ...(await explainAnswer(site, request, flags)) }
}

/** Errors that stop a server but still allow an explanation. */
const explainableCodes: ReadonlySet<OperatorErrorCode> = new Set([
  'SD_ENVIRONMENT_INVALID',
  'SD_FOLDER_WRONG',
  'SD_MANIFEST_LOST',
])

/** Returns the request target that a browser would send: non-ASCII characters are escaped, the fragment is removed. */
function toTarget(path: string): string {
  if (/^(?:\/|\*$|https?:\/\/)/i.test(path))
    return path.replace(/#.*$/s, '').replaceAll(/[^!-~]+/g, encodeURI)
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `expected a path that begins with a slash, such as /${path}, or a URL, found "${path}"`,
  )
}

/** Runs steps 2 to 8 of a request, in the order of `hosts/handler.ts`. */
async function explainAnswer(
  site: Site,
  request: RequestFields,
  { ssr, fsFallback = false }: ExplainFlags,
): Promise<Explanation> {
  const fallback = fallbackFor(site, ssr === undefined ? 'standalone' : 'before-application', undefined)
  const isFinal = ({ answer }: Explanation): boolean =>
    answer !== undefined && (ssr === undefined || answer !== methodNotAllowed)

  const first = explain(site, request, fsFallback ? undefined : fallback)
  if (isFinal(first)) return first
  const onDisk = first.answer === undefined ? await findOnDisk(site, request) : undefined
  if (onDisk !== undefined && fsFallback) {
    const step = last('Files that appear after the start', 'the folder has a file with this name')
    return { answer: onDisk, steps: [...first.steps, step] }
  }
  const second = fsFallback ? explain(site, request, fallback) : first
  if (isFinal(second)) return second
  const steps = [...second.steps]
  if (onDisk !== undefined) {
    const text =
      'the folder has a file with this name, but the manifest does not list it. Run serve-dist compress to add it'
    steps.push(last('Paths', text))
  }
  if (ssr === undefined) {
    steps.push(last('Unknown paths', 'there is no application: --ssr is not set'))
    return { answer: decideNotFound(site, request, fallback), steps }
  }
  if (isMissingAsset(site, request.target)) {
    const text = 'the server does not forward requests for missing assets to the application'
    return { answer: notFound, steps: [...steps, last('Unknown paths', text)] }
  }
  const passedOn = explain(site, request, fallbackFor(site, 'after-application', undefined))
  const page = passedOn.resource === undefined ? '' : ` with ${passedOn.resource.path}`
  const text = `the application ${ssr} answers; if it passes the request on, the answer is ${passedOn.answer?.status ?? 404}${page}`
  return { answer: undefined, steps: [...steps, last('Middleware', text)] }
}

function last(topic: HttpTopic, text: string): ExplainedStep {
  return { step: 8, topic, text }
}
