import { s } from '@serve-dist/manifest'
import { type CheckFlags, checkFlags, type FlagTable } from './flags.ts'
import { parseAge, parseCount, parseStorePlace, createFlagParser } from './flag-values.ts'

// The options of the commands for stores. Their defaults are in @serve-dist/store.

/** The options that all commands for stores have. */
export interface StoreFlags {
  readonly store?: string
  readonly json?: boolean
}

/** The options of `rollback`. */
export interface RollbackFlags extends StoreFlags {
  readonly dryRun?: boolean
  readonly singlePublisher?: boolean
}

/** The limits of the builds to keep. */
export interface RetentionFlags {
  readonly keep?: number
  readonly keepFor?: number
  readonly keepBytes?: number
}

/** The options of `publish`. */
export interface PublishFlags extends RollbackFlags, RetentionFlags {
  readonly noDeltas?: boolean
  readonly force?: boolean
  readonly verify?: boolean
  readonly export?: string
}

/** The options of `purge`. */
export interface PurgeFlags extends StoreFlags {
  readonly dryRun?: boolean
  readonly singlePublisher?: boolean
}

const group = 'Options'

const place: FlagTable<Pick<StoreFlags, 'store'>> = {
  store: {
    value: '<where>',
    help: 'the store of the builds: a folder or s3://bucket/prefix (S3 needs @aws-sdk/client-s3)',
    group,
    environment: 'SERVE_DIST_STORE',
    read: parseStorePlace,
  },
}

const json: FlagTable<Pick<StoreFlags, 'json'>> = {
  json: { help: 'print the result as JSON', group },
}

const retention: FlagTable<RetentionFlags> = {
  keep: {
    value: '<count>',
    help: 'number of earlier builds to keep',
    group,
    defaultText: '5',
    read: parseCount,
  },
  keepFor: {
    value: '<time>',
    help: 'also keep builds that were replaced within this time',
    group,
    defaultText: '7d',
    read: parseAge,
  },
  keepBytes: {
    value: '<size>',
    help: 'size limit for all builds; the current and the previous build always stay',
    group,
    defaultText: '1g',
    read: createFlagParser(s.byteSize()),
  },
}

const change: FlagTable<Pick<PurgeFlags, 'dryRun' | 'singlePublisher'>> = {
  dryRun: { help: 'print the changes without making them', group },
  singlePublisher: {
    help: 'continue without locking if the endpoint does not support conditional writes',
    group,
  },
}

const deltas: FlagTable<Pick<PublishFlags, 'noDeltas'>> = {
  noDeltas: { help: 'do not make deltas; browsers download whole files', group },
}

export const publishFlags: FlagTable<PublishFlags> = {
  ...place,
  ...retention,
  ...deltas,
  force: { help: 'replace a build that was published concurrently', group },
  verify: { help: 'read back the files in the store and upload damaged ones again', group },
  export: {
    value: '<folder>',
    help: 'also write a folder for nginx, Netlify and Cloudflare Pages',
    group,
  },
  ...change,
  ...json,
}

/** The options of `carry`. */
export interface CarryFlags
  extends RetentionFlags, Pick<PublishFlags, 'noDeltas'>, Pick<CheckFlags, 'header'> {
  readonly ifPossible?: boolean
}

export const carryFlags: FlagTable<CarryFlags> = {
  ...retention,
  ...deltas,
  header: checkFlags.header,
  ifPossible: { help: 'succeed with a warning if the site is unreachable', group },
}

export const rollbackFlags: FlagTable<RollbackFlags> = { ...place, ...change, ...json }

export const generationsFlags: FlagTable<StoreFlags> = { ...place, ...json }

export const purgeFlags: FlagTable<PurgeFlags> = { ...place, ...change, ...json }
