import type { Readable } from 'node:stream'

/**
 * A place that holds the objects of a store, for example a folder or a bucket. Keys are relative. They consist of
 * segments of `[A-Za-z0-9._-]` with `/` between them.
 *
 * A method rejects with an OperatorError (`SD_STORE_UNAVAILABLE`) if the store is unreachable, refuses the request or
 * is full, and retries did not help.
 */
export interface StoreBackend {
  /** The name of the place for messages: `/srv/site-store`, `s3://bucket/prefix`. */
  readonly place: string
  /** Returns the address of the server, because two endpoints can have a bucket of the same name. */
  endpoint?(): Promise<string>
  /**
   * Opens an object.
   *
   * @returns `undefined` if the object does not exist (without `ListBucket` permission, S3 answers 403 for a missing
   * key); `'unchanged'` if it still has the version that the caller knows.
   */
  read(key: string, options?: ReadOptions): Promise<StoredObject | 'unchanged' | undefined>
  /** Lists the objects whose keys start with `prefix`, in any order. */
  list(prefix: string, options?: Stoppable): AsyncIterable<ListedObject>
  /**
   * Writes an object atomically. Concurrent readers get the previous object, or none.
   *
   * @param options - `replaces`: the version that the object must have, or `null` if it must not exist. Without
   * `replaces`, the write is unconditional.
   * @returns `'conflict'` if the object does not have the version `replaces`. A retried write can conflict with its own
   * first attempt, if the response to that attempt was lost.
   * @throws UnansweredError if an attempt had no answer, so that it may still run at any later time.
   */
  put(key: string, content: Content, options?: PutOptions): Promise<Written | 'conflict'>
  /**
   * Deletes an object, if it exists. Sends no further request after `signal` aborts.
   *
   * @returns `'unsettled'` if an earlier attempt had no answer. Such an attempt may still run at any later time, as may
   * one of a call that rejects.
   */
  delete(key: string, options?: Stoppable): Promise<void | 'unsettled'>
  /** Returns whether `put` honours `replaces`. Some S3-compatible servers ignore the condition without an error. */
  honoursConditions(options?: Stoppable): Promise<boolean>
}

/** Options of an operation that rejects with the reason of `signal` when it aborts. */
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

/** An open object. */
export interface StoredObject {
  /**
   * The content. The caller must read it to the end or destroy it. Its errors are those of the backend, or the reason
   * of the signal.
   */
  readonly body: Readable
  /** The number of bytes. */
  readonly size: number
  /** A value that changes with the content: an entity tag, or a value made from the file's metadata. */
  readonly version: string
  /** The store's time of the response, in milliseconds since the epoch. */
  readonly time: number
}

export interface ListedObject {
  readonly key: string
  /** The number of bytes. */
  readonly size: number
  /** The time of the last write by the store's clock, in milliseconds since the epoch. */
  readonly modified: number
}

/** The content to write: bytes, or a source that can be opened again for a retry. */
export type Content = Uint8Array | { readonly size: number; open(): Readable }

export interface Written {
  readonly version: string
  /** The store's time of the write, in milliseconds since the epoch. */
  readonly time: number
}
