import { PrecompressError } from '@serve-dist/precompress'
import type { PassContext } from './pass-context.ts'

/** Fails the build; a watched one goes on, with the failure in its log. Of what people can mend, Vite prints no stack. */
export function failPass(context: PassContext, log: { message: string; cause?: unknown }): void {
  // Vite does not wait for closeBundle when it watches: an error thrown there ends the process.
  if (context.meta.watchMode) context.environment.logger.error(log.message)
  else if (log.cause === undefined || log.cause instanceof PrecompressError) {
    // Neither a second time, as its cause.
    context.error({ message: log.message, stack: log.message })
  } else context.error(log)
}
