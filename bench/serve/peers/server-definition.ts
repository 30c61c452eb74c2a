import type { WorkloadRequest } from '../load/workload.ts'
import type { TlsFiles } from '../tls-files.ts'

/** What a server needs to start. */
export interface LaunchInput {
  /** The folder to serve. */
  readonly directory: string
  readonly port: number
  /** Processes or threads that answer. */
  readonly workers: number
  /** An empty folder for configuration and state. */
  readonly scratch: string
  /** Serve TLS with it, HTTP/1.1 and HTTP/2 as the client chooses. */
  readonly tls?: TlsFiles | undefined
  /** The codings that the workload asks for, for servers that do not negotiate. */
  readonly accept: readonly string[]
  /** What will be asked for, for a server that knows no other answers. */
  readonly requests: readonly WorkloadRequest[]
}

/** A command to start, in the foreground. */
interface Launch {
  readonly command: string
  readonly arguments: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Where it is started; by default in the scratch folder. */
  readonly directory?: string
}

/** A server that is on this machine. */
export interface FoundServer {
  readonly version: string
  /** Maps a request target to the one under which this server has the file; by default the same. */
  readonly targetOf?: (target: string) => string
  launch(input: LaunchInput): Promise<Launch>
}

/** A server that the harness knows. */
export interface ServerDefinition {
  readonly name: string
  /**
   * Looks for it.
   *
   * @returns a text that says what is missing, if it cannot run here.
   */
  find(): Promise<FoundServer | string>
}
