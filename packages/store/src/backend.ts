import type { Readable } from 'node:stream'

/**
 * Where the objects of a store lie: a folder, a bucket, or whatever else can do these four things. Keys are relative, of
 * segments of `[A-Za-z0-9._-]` with `/` between them.
 *
 * Each verb rejects with an OperatorError for what an operator can mend (`SD_STORE_UNAVAILABLE`: away, refused, full), once
 * trying again has not helped.
 */
export interface StoreBackend {
  /** For people, as they named it: `/srv/site-store`, `s3://bucket/prefix`. */
  readonly place: string
  /** Who answers for the place, where its name does not say so: another endpoint may have a bucket of the same name. */
  endpoint?(): Promise<string>
  /**
   * Opens an object.
   *
   * @returns `undefined` where there is none, or where somebody who must not list is told that he must not read it
   * (S3's 403); `'unchanged'` where it still has the version that the caller knows.
   */
  read(key: string, options?: ReadOptions): Promise<StoredObject | 'unchanged' | undefined>
  /** The objects whose keys begin so, in any order. */
  list(prefix: string, options?: Stoppable): AsyncIterable<ListedObject>
  /**
   * Writes an object whole or not at all: who reads meanwhile gets the one before, or none.
   *
   * @param options - `replaces`: the version that it takes the place of, `null` for none; without it, of any.
   * @returns `'conflict'` where `replaces` does not hold any more: by what another wrote, or by this very content, where an
   * answer got lost and it was tried again.
   */
  put(key: string, content: Content, options?: PutOptions): Promise<Written | 'conflict'>
  /** Deletes an object, if it is there; once the signal is given, nothing more is asked of the store. */
  delete(key: string, options?: Stoppable): Promise<void>
  /**
   * Proves that `put` keeps its promise of `replaces`: some servers that speak S3 ignore the condition in silence.
   *
   * @returns whether it does.
   */
  honoursConditions(options?: Stoppable): Promise<boolean>
}

/** What ends with its signal, and then rejects with the signal's reason. */
export interface Stoppable {
  readonly signal?: AbortSignal | undefined
}

export interface ReadOptions extends Stoppable {
  /** The version that the caller has. */
  readonly unless?: string
}

export interface PutOptions extends Stoppable {
  readonly replaces?: string | null
}

/** An object that is open. */
export interface StoredObject {
  /** Its owner reads it to the end, or destroys it. An error of it is one of the backend, or the signal's. */
  readonly body: Readable
  /** In bytes. */
  readonly size: number
  /** Changes with the content: an entity tag, or what the folder knows of its file. */
  readonly version: string
  /** The store's own time of the answer, in milliseconds since the epoch. */
  readonly time: number
}

export interface ListedObject {
  readonly key: string
  /** In bytes. */
  readonly size: number
  /** When it was written, by the store's own clock, in milliseconds since the epoch. */
  readonly modified: number
}

/** What is written: bytes, or something that can be opened once more when a try fails. */
export type Content = Uint8Array | { readonly size: number; open(): Readable }

export interface Written {
  readonly version: string
  /** The store's own time of the write, in milliseconds since the epoch. */
  readonly time: number
}
