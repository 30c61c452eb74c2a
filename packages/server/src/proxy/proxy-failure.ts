import { isNavigation } from '../protocol/is-navigation.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { badGateway, contentTooLarge, gatewayTimeout } from '../site/answers.ts'
import { errorPage } from '../site/decide.ts'
import type { Answer, Site } from '../site/site.ts'

/** The status of a request that was not forwarded, or whose target failed. */
export type FailureStatus = 413 | 502 | 504

/** Returns the status for an error of undici or of a socket. */
export function statusOfFailure(code: string): FailureStatus {
  return code === 'UND_ERR_HEADERS_TIMEOUT' ? 504 : 502
}

/** Returns the code of an error, or its message without one. */
export function codeOf(error: Error): string {
  const code: unknown = Reflect.get(error, 'code')
  const isOfSocket = code === 'UND_ERR_SOCKET' && error.message !== ''
  return typeof code === 'string' && !isOfSocket ? code : error.message
}

/** Returns the error for a client. Navigations get a page of the build, if it has one for the status. */
export function failureAnswer(site: Site, request: RequestFields, status: FailureStatus): Answer {
  if (status === 413) return contentTooLarge
  const page = site.files.get(`${status}.html`) ?? site.files.get('50x.html')
  const answer =
    page !== undefined && isNavigation(request, request.target.replace(/\?.*$/s, ''))
      ? errorPage(page, request, status)
      : undefined
  return answer ?? (status === 504 ? gatewayTimeout : badGateway)
}
