import { join } from 'node:path'
import { isPageType, type PagePolicy } from '@serve-dist/manifest'
import type { CompressedFile } from '../commit/build-manifest.ts'
import { readIfThere } from '../folder/describe-file.ts'
import { decodePage } from '../links/decode-page.ts'
import type { LinksOf, ReadPage } from '../precompress-options.ts'
import type { PolicyCheck } from '../policies/create-policy-check.ts'
import { mayNeedPolicy } from '../policies/may-need-policy.ts'

export interface PagesContext {
  readonly folder: string
  readonly linksOf: LinksOf
  readonly signal: AbortSignal | undefined
  /** Examines each page, if the server sends policies. */
  readonly check: PolicyCheck | undefined
}

/** Adds links and policies to the pages. Reads and parses each page once, one after the other. */
export async function describePages(
  files: readonly CompressedFile[],
  { folder, linksOf, signal, check }: PagesContext,
): Promise<CompressedFile[]> {
  const paths = new Set(files.map(({ file }) => file.path))
  const described: CompressedFile[] = []
  for (const compressed of files) {
    signal?.throwIfAborted()
    const { path, mediaType } = compressed.file
    if (!isPageType(mediaType)) {
      described.push(compressed)
      continue
    }
    const page = openPage(join(folder, path), check !== undefined)
    const links = await linksOf(path, paths, page.elements)
    const policy = await policyOf(page)
    if (check !== undefined) check.look(path, await page.elements(), policy)
    described.push({ ...compressed, links, ...(policy && { policy }) })
  }
  return described
}

/** Returns the policy of a page on the disk. */
export async function policyOfPage(folder: string, path: string): Promise<PagePolicy | undefined> {
  return await policyOf(openPage(join(folder, path)))
}

interface OpenPage {
  readonly bytes: () => Buffer
  readonly elements: ReadPage
}

function openPage(path: string, lines = false): OpenPage {
  const bytes = once(() => readIfThere(path))
  const elements = once(async () => {
    // Load the HTML parser on demand.
    const { elementsOfPage } = await import('../links/elements-of-page.ts')
    return elementsOfPage(decodePage(bytes()), { lines })
  })
  return { bytes, elements }
}

async function policyOf({ bytes, elements }: OpenPage): Promise<PagePolicy | undefined> {
  if (!mayNeedPolicy(bytes())) return undefined
  const { policyOfElements } = await import('../policies/policy-of-elements.ts')
  return policyOfElements(await elements())
}

function once<Found>(find: () => Found): () => Found {
  let found: { readonly value: Found } | undefined
  return () => (found ??= { value: find() }).value
}
