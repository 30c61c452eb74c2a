import { randomUUID } from 'node:crypto'
import { open, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { OperatorError } from '@serve-dist/manifest'
import { hasErrorCode, isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { makeStoreFolder } from './make-store-folder.ts'
import { hasProcessEnded, describeProcess, identifyProcess } from './process-identity.ts'

/** Time limits of a lock, in milliseconds. */
export interface LockLimits {
  /** The time without a heartbeat after which a holder on another machine counts as dead, by the folder's clock. */
  readonly lifeless: number
  /** The time to wait for a live holder. */
  readonly patience: number
}

const defaults: LockLimits = { lifeless: 60_000, patience: 90_000 }

/** The number of lock files of earlier holders to keep, because a slow process may still read them. */
const kept = 8

const [heldMark, freeMark] = ['held', 'free']

/*
 * The lock is a folder of numbered files. The process that created the highest number holds the lock. A process takes a
 * free or stale lock by creating the next number, and only one process can succeed. The highest file is never removed.
 */

/**
 * Runs `work` while no other process holds the lock, on this machine or another.
 *
 * @param work - receives a function that rejects if another process took the lock, because this process was suspended
 * for too long.
 */
export async function lockFolder<T>(
  lock: string,
  work: (confirm: () => Promise<void>) => Promise<T>,
  limits: LockLimits = defaults,
): Promise<T> {
  await makeStoreFolder(lock)
  const { number, handle } = await acquire(lock, limits)
  const text = Buffer.from(heldMark)
  // Writes the same byte again. The file's modification time is the heartbeat.
  const beat = setInterval(() => void handle.write(text, 1, 1, 1).catch(() => undefined), limits.lifeless / 6)
  try {
    return await work(async () => {
      if ((await numbersIn(lock)).at(-1) === number) return
      const problem = `${lock}: another process took the lock, because this process was suspended for too long. Try again.`
      throw new OperatorError('SD_STORE_CONFLICT', problem)
    })
  } finally {
    clearInterval(beat)
    await handle.write(freeMark, 0).catch(() => undefined)
    await handle.close()
    const earlier = (await numbersIn(lock)).filter((other) => other < number - kept)
    await Promise.all(
      earlier.map(async (other) => await unlink(join(lock, nameOfNumber(other))).catch(() => {})),
    )
  }
}

interface Ticket {
  readonly number: number
  readonly handle: Awaited<ReturnType<typeof open>>
}

async function acquire(lock: string, limits: LockLimits): Promise<Ticket> {
  const deadline = performance.now() + limits.patience
  for (;;) {
    const last = (await numbersIn(lock)).at(-1) ?? 0
    const holder = last === 0 ? undefined : await holderOf(lock, last, limits.lifeless)
    if (holder === undefined) {
      const ticket = await take(lock, last + 1)
      if (ticket !== undefined) return ticket
    } else if (performance.now() > deadline) {
      const problem = `${lock}: ${holder} holds the lock. If that process hangs, end it. Then try again.`
      throw new OperatorError('SD_STORE_CONFLICT', problem)
    }
    await setTimeout(5 + Math.random() * 45)
  }
}

async function take(lock: string, number: number): Promise<Ticket | undefined> {
  const path = join(lock, nameOfNumber(number))
  const handle = await open(path, 'wx').catch((error: unknown) => {
    if (hasErrorCode(error, 'EEXIST')) return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    await handle.writeFile(`${heldMark} ${identifyProcess()}\n`)
    // After a stale directory listing, this process may have recreated a number that was already removed.
    if ((await numbersIn(lock)).at(-1) === number) return { number, handle }
  } catch (error) {
    await handle.close()
    await rm(path, { force: true })
    throw error
  }
  await handle.close()
  // A holder of a later number may have removed it already.
  await rm(path, { force: true })
  return undefined
}

/** Describes the holder of the lock. Returns `undefined` if the lock is free or its holder is dead. */
async function holderOf(lock: string, number: number, lifeless: number): Promise<string | undefined> {
  const path = join(lock, nameOfNumber(number))
  try {
    const text = await readFile(path, 'utf8')
    if (text.startsWith(freeMark)) return undefined
    const identity = text.slice(heldMark.length).trim()
    const gone = await hasProcessEnded(identity)
    if (gone === true) return undefined
    const { mtimeMs } = await stat(path)
    if (gone === undefined && (await folderTime(lock)) - mtimeMs > lifeless) return undefined
    return describeProcess(identity)
  } catch (error) {
    if (isNotFoundError(error)) return 'a process that ended a moment ago'
    throw error
  }
}

/** Returns the time of the folder's clock, which can be that of a file server. */
export async function folderTime(folder: string): Promise<number> {
  const path = join(folder, `.${randomUUID()}`)
  await writeFile(path, 'time')
  try {
    return (await stat(path)).mtimeMs
  } finally {
    await unlink(path)
  }
}

const nameOfNumber = (number: number): string => String(number).padStart(8, '0')

async function numbersIn(lock: string): Promise<number[]> {
  const names = (await readdir(lock)).filter((name) => /^\d+$/.test(name))
  return names.map(Number).toSorted((a, b) => a - b)
}
