import type * as Sdk from '@aws-sdk/client-s3'
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { loadOptional, OperatorError } from '@serve-dist/manifest'

/** The SDK and a client. */
export interface S3Connection {
  readonly sdk: typeof Sdk
  readonly client: S3Client
}

/** The bucket and prefix of a store in S3. */
export interface S3Place {
  readonly bucket: string
  /** The prefix of all keys: empty, or with a slash at its end. */
  readonly prefix: string
}

/** Parses a place such as `s3://bucket/prefix`. */
export function parseS3Place(where: string): S3Place {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9._-]+)(?:\/(.*))?$/is.exec(where) ?? []
  const prefix = path.replace(/\/+$/, '')
  if (
    bucket === undefined ||
    !/^[\w!.*'()/-]*$/.test(prefix) ||
    /^\/|\/\/|(?:^|\/)\.\.?(?:\/|$)/.test(prefix)
  ) {
    const problem = `${where}: expected s3://bucket or s3://bucket/prefix with letters, digits and . _ - ! * ' ( )`
    throw new OperatorError('SD_OPTION_INVALID', problem)
  }
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` }
}

/**
 * Loads the SDK and creates a client. The SDK reads environment variables, profiles and the machine's role.
 *
 * @param settings - settings that override those.
 */
export async function connectS3(settings: S3ClientConfig): Promise<S3Connection> {
  const needed = { name: '@aws-sdk/client-s3', neededBy: 'a store in S3' }
  const sdk = await loadOptional(needed, async () => await import('@aws-sdk/client-s3'))
  const { env } = process
  // The warning about Node.js 20 is for developers who install the SDK, not for operators.
  env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  const isElsewhere =
    (env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL'] ?? settings.endpoint) !== undefined
  // Most other services do not support a subdomain for each bucket. They accept any region, but the SDK requires one.
  const pathStyle = env['AWS_S3_FORCE_PATH_STYLE'] ?? String(isElsewhere)
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? (isElsewhere ? 'us-east-1' : undefined)
  const client = new sdk.S3Client({
    ...(region !== undefined && { region }),
    forcePathStyle: pathStyle === 'true' || pathStyle === '1',
    // Other services answer these checksums with 501 or 400. Each blob is sent with its own digest.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Suppresses messages about failed attempts.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    requestHandler: { connectionTimeout: 3000, socketTimeout: 20_000 },
    ...settings,
    // The SDK cannot open a source again for a retry.
    maxAttempts: 1,
  })
  return { sdk, client }
}
