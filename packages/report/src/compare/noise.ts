import { ReportError } from '../builds/report-error.ts'

/** A change is noise when it stays below both; where the file itself is as long as before, below `bytes`. */
export interface Noise {
  readonly percent: number
  readonly bytes: number
}

/** Below 0.1 % and 64 bytes. */
export const defaultNoise: Noise = { percent: 0.1, bytes: 64 }

/**
 * Reads a threshold such as `0.5%,128b` (or `0.5%,128`); a part that is left out keeps its default, `0`
 * for both calls nothing noise.
 *
 * @throws {@link ReportError} when it is none.
 */
export function parseNoise(text: string): Noise {
  const noise = { ...defaultNoise }
  for (const part of text.split(',')) {
    const match = /^\s*(\d+(?:\.\d+)?)\s*(%|b|)\s*$/i.exec(part)
    if (match === null) {
      throw new ReportError([
        `noise "${text}": "${part}" is neither a percentage nor bytes; write for example 0.1%,64b`,
      ])
    }
    noise[match[2] === '%' ? 'percent' : 'bytes'] = Number(match[1])
  }
  return noise
}
