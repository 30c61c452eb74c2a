import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  CreateBucketCommand,
  PutBucketPolicyCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { freePort } from '../../../server/test/support/free-port.ts'

export interface S3User {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** The permission of a user in a policy. */
export interface S3Right {
  readonly user: S3User
  readonly actions: readonly string[]
  /** The part of the resource after the bucket's name: empty for the bucket, `/*` for its objects. */
  readonly on: string
}

/** An S3 server: versitygw, in a separate process. */
export interface S3Server {
  readonly endpoint: string
  /** The user with all permissions. */
  readonly root: S3User
  /** Creates an empty bucket and returns its name. */
  bucket(): Promise<string>
  /** Returns the folder with the objects of a bucket. A file that is written there becomes an object. */
  folderOf(bucket: string): string
  /** Creates a user without permissions. */
  user(): Promise<S3User>
  /** Sets the policy of a bucket. */
  allow(bucket: string, rights: readonly S3Right[]): Promise<void>
  /** Kills the process and removes its objects. */
  stop(): Promise<void>
}

const root: S3User = { accessKeyId: 'root', secretAccessKey: 'root-secret' }

/** Starts versitygw. `program` is the path from `ensureVersitygw`. */
export async function startS3(program: string): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-s3-'))
  const [objects, users] = [join(folder, 'objects'), join(folder, 'users')]
  await Promise.all([mkdir(objects), mkdir(users)])
  const endpoint = `http://127.0.0.1:${await freePort()}`
  const who = ['--access', root.accessKeyId, '--secret', root.secretAccessKey]
  const flags = ['--port', new URL(endpoint).host, ...who, '--iam-dir', users, '--iam-cache-disable']
  const child = spawn(
    program,
    [...flags, '--quiet', '--keep-alive', '--health', '/health', 'posix', objects],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  await untilHealthy(endpoint, child, () => said)
  const client = new S3Client(s3Settings(endpoint, root))
  let made = 0

  return {
    endpoint,
    root,

    async bucket() {
      made += 1
      const name = `site-${made}`
      await client.send(new CreateBucketCommand({ Bucket: name }))
      return name
    },

    folderOf: (bucket) => join(objects, bucket),

    async user() {
      const user = { accessKeyId: `user-${randomUUID()}`, secretAccessKey: randomUUID() }
      const [access, secret] = [user.accessKeyId, user.secretAccessKey]
      const command = ['admin', ...who, '--endpoint-url', endpoint, 'create-user']
      await promisify(execFile)(program, [...command, '-a', access, '-s', secret, '-r', 'user'])
      return user
    },

    async allow(bucket, rights) {
      const statements = rights.map(({ user, actions, on }) => ({
        Effect: 'Allow',
        Principal: { AWS: [user.accessKeyId] },
        Action: actions,
        Resource: `arn:aws:s3:::${bucket}${on}`,
      }))
      const policy = JSON.stringify({ Version: '2012-10-17', Statement: statements })
      await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: policy }))
    },

    async stop() {
      client.destroy()
      process.removeListener('exit', kill)
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'close')
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Returns settings of the SDK that override its environment. */
export function s3Settings(endpoint: string, user: S3User): S3ClientConfig {
  return {
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { ...user },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  }
}

/** Returns the same settings as environment variables, for processes and for `openStore`. */
export function s3Environment(endpoint: string, user: S3User): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: user.accessKeyId,
    AWS_SECRET_ACCESS_KEY: user.secretAccessKey,
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    // Ignores the settings of this machine.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  }
}

async function untilHealthy(endpoint: string, child: ChildProcess, said: () => string): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (child.exitCode !== null) break
    const isUp = await fetch(`${endpoint}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    await setTimeout(50)
  }
  child.kill('SIGKILL')
  throw new Error(`versitygw does not answer on ${endpoint}:\n${said()}`)
}
