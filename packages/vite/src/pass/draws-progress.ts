import type { ResolvedConfig } from 'vite'

/** Whether a line that is drawn over may be shown: not where Vite is told to leave the screen as it is. */
export function drawsProgress({
  logLevel = 'info',
  clearScreen = true,
}: Partial<Pick<ResolvedConfig, 'logLevel' | 'clearScreen'>>): boolean {
  return logLevel === 'info' && clearScreen
}
