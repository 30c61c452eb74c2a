import type { RateLimit } from '../../protocol/http2-limits.ts'

/** Says of each event whether it is one too many: a bucket of tokens that fills up as time goes by. */
export function createRateLimiter(
  { burst, perSecond }: RateLimit,
  now: number = performance.now(),
): RateLimiter {
  let tokens = burst
  let then = now
  return (time = performance.now()) => {
    tokens = Math.min(burst, tokens + ((time - then) / 1000) * perSecond)
    then = time
    if (tokens < 1) return true
    tokens -= 1
    return false
  }
}

export type RateLimiter = (time?: number) => boolean
