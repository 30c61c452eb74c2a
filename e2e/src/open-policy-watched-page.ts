import type { Browser, Page } from 'playwright'
import { openPage, type OpenedPage } from './open-page.ts'
import type { StageApi } from './start-stage-api.ts'

/** A page with events of its `Content-Security-Policy`. */
export interface PolicyWatchedPage extends OpenedPage {
  /** Blocked or reported requests up to now, such as `connect-src http://127.0.0.1:4000/`. */
  readonly violations: readonly string[]
  /** Returns the response of an API to a `fetch` of the page, or `'blocked'`. */
  readonly ask: (api: StageApi) => Promise<string>
  /** Adds scripts to the page in three ways. Returns the ways that ran. */
  readonly inject: (api: StageApi) => Promise<readonly string[]>
}

/** Opens a blank page for the running test. */
export async function openPolicyWatchedPage(browser: Browser): Promise<PolicyWatchedPage> {
  const { page, complaints } = await openPage(browser)
  const violations: string[] = []
  await page.exposeFunction('reportViolation', (violation: string) => violations.push(violation))
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event
      const place = sourceFile === '' ? '' : ` at ${sourceFile}:${lineNumber}`
      const report: unknown = Reflect.get(globalThis, 'reportViolation')
      if (typeof report === 'function') report(`${effectiveDirective} ${blockedURI}${place} ${sample}`.trim())
    })
  })
  return {
    page,
    complaints,
    violations,
    ask: (api) =>
      page.evaluate(
        (url) =>
          fetch(url).then(
            (answer) => answer.text(),
            () => 'blocked',
          ),
        api.url.href,
      ),
    inject: (api) => injectScripts(page, api),
  }
}

function injectScripts(page: Page, { script }: StageApi): Promise<string[]> {
  return page.evaluate(async (foreign) => {
    const ran: string[] = []
    Object.assign(globalThis, { ran })
    const inline = document.createElement('script')
    inline.textContent = "globalThis.ran.push('inline')"
    document.head.append(inline)
    document.body.insertAdjacentHTML(
      'beforeend',
      `<i id="injected" onclick="globalThis.ran.push('attribute')"></i>`,
    )
    document.querySelector<HTMLElement>('#injected')?.click()
    const other = document.createElement('script')
    const isSettled = new Promise((resolve) => {
      other.addEventListener('load', resolve)
      other.addEventListener('error', resolve)
    })
    other.src = foreign
    document.head.append(other)
    await isSettled
    return ran
  }, script.href)
}
