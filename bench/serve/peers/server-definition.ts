import type { WorkloadRequest } from '../load/workload.ts'
import type { TlsFiles } from '../tls-files.ts'

/** The input for the start of a server. */
export interface LaunchInput {
  /** The folder to serve. */
  readonly directory: string
  readonly port: number
  /** Processes of our command. */
  readonly workers: number
  /** An empty folder for configuration and state. */
  readonly scratch: string
  /** The certificate for TLS. The client chooses HTTP/1.1 or HTTP/2. */
  readonly tls?: TlsFiles | undefined
  /** The codings that the workload accepts, for servers that do not negotiate. */
  readonly accept: readonly string[]
  /** The requests of the workload. A server with constant answers needs them. */
  readonly requests: readonly WorkloadRequest[]
}

/** A command to start, in the foreground. */
interface Launch {
  readonly command: string
  readonly arguments: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** The working directory. @default the scratch folder */
  readonly directory?: string
}

/** A server that is on this machine. */
export interface FoundServer {
  readonly version: string
  /** Maps a request target to this server's target for the file. @default the same */
  readonly targetOf?: (target: string) => string
  launch(input: LaunchInput): Promise<Launch>
}

/** A server under test. */
export interface ServerDefinition {
  readonly name: string
  /**
   * Finds the server on this machine. If it cannot run, returns a text that names the missing program.
   */
  find(): Promise<FoundServer | string>
}
