import type { FlagTable } from './flags.ts'
import { s } from '@serve-dist/manifest'
import { parseAge, parseCount, parseStorePlace, createFlagParser } from './flag-values.ts'

// The flags of the commands that look at a store, or change it. Without a value, the store's own defaults count.

/** What the command line says of a store. */
export interface StoreFlags {
  readonly store?: string
  readonly json?: boolean
}

/** What it says of a change of what is current. */
export interface RollbackFlags extends StoreFlags {
  readonly dryRun?: boolean
  readonly singlePublisher?: boolean
}

/** What it says of a publish. */
export interface PublishFlags extends RollbackFlags {
  readonly keep?: number
  readonly keepFor?: number
  readonly keepBytes?: number
  readonly noDeltas?: boolean
  readonly force?: boolean
  readonly verify?: boolean
  readonly export?: string
}

/** What it says of a build to take out. */
export interface PurgeFlags extends StoreFlags {
  readonly dryRun?: boolean
  readonly singlePublisher?: boolean
}

const group = 'Options'

const place: FlagTable<Pick<StoreFlags, 'store'>> = {
  store: {
    value: '<where>',
    help: 'store: a folder, or s3://bucket/prefix (needs @aws-sdk/client-s3)',
    group,
    environment: 'SERVE_DIST_STORE',
    read: parseStorePlace,
  },
}

const json: FlagTable<Pick<StoreFlags, 'json'>> = {
  json: { help: 'write what happened as JSON', group },
}

const change: FlagTable<Pick<PurgeFlags, 'dryRun' | 'singlePublisher'>> = {
  dryRun: { help: 'say what would change, and change nothing', group },
  singlePublisher: {
    help: 'go on where the endpoint ignores conditions: nobody else changes the store meanwhile',
    group,
  },
}

export const publishFlags: FlagTable<PublishFlags> = {
  ...place,
  keep: {
    value: '<count>',
    help: 'builds to keep besides the current one, those that were replaced last',
    group,
    defaultText: '5',
    read: parseCount,
  },
  keepFor: {
    value: '<time>',
    help: 'keep builds that were replaced less than so long ago, too',
    group,
    defaultText: '7d',
    read: parseAge,
  },
  keepBytes: {
    value: '<size>',
    help: 'most that all builds may weigh together; the current one and the one before stay anyhow',
    group,
    defaultText: '1g',
    read: createFlagParser(s.byteSize()),
  },
  noDeltas: { help: 'make no deltas: servers answer as to browsers that do not know them', group },
  force: { help: 'become current though somebody else has published meanwhile', group },
  verify: { help: 'read back what the store has already, and send again what has other bytes', group },
  export: {
    value: '<folder>',
    help: 'write a folder for nginx, Netlify and Cloudflare Pages, too',
    group,
  },
  ...change,
  ...json,
}

export const rollbackFlags: FlagTable<RollbackFlags> = { ...place, ...change, ...json }

export const generationsFlags: FlagTable<StoreFlags> = { ...place, ...json }

export const purgeFlags: FlagTable<PurgeFlags> = { ...place, ...change, ...json }
