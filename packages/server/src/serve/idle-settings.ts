/** What decides whether a setting does anything. */
export interface Settings {
  readonly descriptor?: number | undefined
  readonly socket?: string | undefined
  readonly redirectPort?: number | undefined
  readonly accessLog?: string | undefined
  readonly largestBody: number
  readonly memoryBudget: number
}

/** Settings that may do nothing. */
export type IdleName = 'port' | 'host' | 'socket' | 'socketMode' | 'trustProxy' | 'largestBody'

/** How whoever gives them writes them. */
export type SettingNames = Readonly<Record<IdleName | 'descriptor' | 'accessLog' | 'memoryBudget', string>>

/**
 * One line for each setting that does nothing beside the others, with the reason and what to do.
 *
 * @param isGiven - whether somebody gave it: a default is nobody's mistake.
 */
export function idleSettings(
  { descriptor, socket, redirectPort, accessLog, largestBody, memoryBudget }: Settings,
  isGiven: (name: IdleName) => boolean,
  names: SettingNames,
): string[] {
  const idle: string[] = []
  if (descriptor !== undefined || socket !== undefined) {
    const listener = descriptor === undefined ? names.socket : names.descriptor
    const others = descriptor === undefined ? besideSocket : besideDescriptor
    for (const name of others) {
      // The listener that sends plain HTTP on to HTTPS has it, too.
      const isForRedirects = name === 'host' && redirectPort !== undefined
      if (!isForRedirects && isGiven(name)) {
        idle.push(`${names[name]} does nothing: ${listener} listens instead; leave one out`)
      }
    }
  } else if (isGiven('socketMode')) {
    idle.push(`${names.socketMode} does nothing: there is no socket; add ${names.socket}, or leave it out`)
  }
  if (accessLog === undefined && isGiven('trustProxy')) {
    idle.push(
      `${names.trustProxy} does nothing: addresses are for the log alone; add ${names.accessLog}, or leave it out`,
    )
  }
  if (isGiven('largestBody') && largestBody > memoryBudget) {
    idle.push(
      `${names.largestBody} does nothing: ${names.memoryBudget} is smaller; raise the budget, or leave ${names.largestBody} out`,
    )
  }
  return idle
}

const besideSocket = ['port', 'host'] as const
const besideDescriptor = ['socket', 'socketMode', ...besideSocket] as const
