import type * as Sdk from '@aws-sdk/client-s3'
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { loadOptional, OperatorError } from '@serve-dist/manifest'

/** The package, and a client of it. */
export interface S3Connection {
  readonly sdk: typeof Sdk
  readonly client: S3Client
}

/** Where a store lies in S3. */
export interface S3Place {
  readonly bucket: string
  /** Of the keys of all objects: empty, or with a slash at its end. */
  readonly prefix: string
}

/** @param where - such as `s3://bucket/prefix`. */
export function parseS3Place(where: string): S3Place {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9._-]+)(?:\/(.*))?$/is.exec(where) ?? []
  const prefix = path.replace(/\/+$/, '')
  if (
    bucket === undefined ||
    !/^[\w!.*'()/-]*$/.test(prefix) ||
    /^\/|\/\/|(?:^|\/)\.\.?(?:\/|$)/.test(prefix)
  ) {
    const problem = `${where}: expected s3://bucket or s3://bucket/prefix, of letters, digits and . _ - ! * ' ( )`
    throw new OperatorError('SD_OPTION_INVALID', problem)
  }
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` }
}

/**
 * Loads the SDK, and takes its settings where it takes them itself: from environment variables, profiles, and the machine.
 *
 * @param settings - that come before those.
 */
export async function connectS3(settings: S3ClientConfig): Promise<S3Connection> {
  const needed = { name: '@aws-sdk/client-s3', neededBy: 'a store in S3' }
  const sdk = await loadOptional(needed, async () => await import('@aws-sdk/client-s3'))
  const { env } = process
  // Its word on Node.js 20 is for who installs the SDK, and would stand before each line of a command.
  env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  const isElsewhere =
    (env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL'] ?? settings.endpoint) !== undefined
  // What is not Amazon's has seldom a name for each bucket; and takes any region, where the SDK insists on one.
  const pathStyle = env['AWS_S3_FORCE_PATH_STYLE'] ?? String(isElsewhere)
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? (isElsewhere ? 'us-east-1' : undefined)
  const client = new sdk.S3Client({
    ...(region !== undefined && { region }),
    forcePathStyle: pathStyle === 'true' || pathStyle === '1',
    // Elsewhere they are answered with 501 or 400; a digest that we know is sent with each blob.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // What it would print of tries that failed.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    requestHandler: { connectionTimeout: 3000, socketTimeout: 20_000 },
    ...settings,
    // It cannot open a content once more.
    maxAttempts: 1,
  })
  return { sdk, client }
}
