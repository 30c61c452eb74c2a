import { PrecompressError } from '@serve-dist/precompress/precompress-error'
import { ListenError } from '../transport/listen-error.ts'
import { ApplicationError } from '../application/load-application.ts'
import { OptionalPackageError } from '../operations/load-optional.ts'
import { SiteError } from '../site/site-error.ts'
import { TlsError } from '../transport/tls/tls-credentials.ts'
import { WorkersError } from './workers-error.ts'

/** Whether an operator can mend what went wrong by what the message says; of others the stack is told. */
export function isForOperator(error: unknown): error is Error {
  return (
    error instanceof SiteError ||
    error instanceof ApplicationError ||
    error instanceof ListenError ||
    error instanceof TlsError ||
    error instanceof WorkersError ||
    error instanceof OptionalPackageError ||
    error instanceof PrecompressError
  )
}
