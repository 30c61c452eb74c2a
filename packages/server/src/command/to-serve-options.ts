import { omitUndefined } from './omit-undefined.ts'
import type { GivenFlags } from './flags.ts'
import { readRules } from '../rules/read-rules.ts'
import type { ServeOptions } from '../serve/serve-options.ts'
import type { WorkerRole } from '../serve/workers/worker-role.ts'
import { toStoreOptions } from './served-store.ts'

/** What `serve` takes, as the flags and a worker's role have it. */
export async function toServeOptions(
  directory: string,
  flags: GivenFlags,
  { descriptor, port = flags.port, isFirst, isReplacement = false }: Partial<WorkerRole>,
): Promise<ServeOptions> {
  const { host, grace, socket, tlsCert, tlsKey, redirectHttp, hsts, allowHost, ssr } = flags
  const { verify, force = false, memoryBudget, envFile, engine } = flags
  const { fsFallback, accessLog, ops, trustProxy } = flags
  const rules = await readRules(process.cwd(), flags)
  // One that takes the place of another must not be refused what the others serve.
  const unlisted = force || isReplacement ? ('warn' as const) : undefined
  // One worker warns, for all; and the primary answers operators.
  const onWarning = isFirst === false ? () => {} : undefined
  const isWorker = isFirst !== undefined
  const tls =
    tlsCert === undefined || tlsKey === undefined
      ? undefined
      : omitUndefined({ cert: tlsCert, key: tlsKey, redirectPort: redirectHttp, hsts })
  const store = toStoreOptions(flags)
  return omitUndefined({
    ...(store ?? { directory }),
    port,
    host,
    socket: socket?.path,
    socketMode: socket?.mode,
    descriptor,
    gracePeriod: grace,
    allowHosts: allowHost,
    engine,
    ssr,
    tls,
    site: omitUndefined({
      // With a store they have no effect, as the table of flags says.
      ...(store === undefined &&
        omitUndefined({
          verify: verify === true ? ('hash' as const) : undefined,
          unlisted,
          noManifest: force,
        })),
      memoryBudget,
      rules,
      envFile,
      onWarning,
    }),
    handler: omitUndefined({ fileSystemFallback: store === undefined ? fsFallback : undefined }),
    operations: omitUndefined({
      accessLog,
      ops: isWorker && ops !== undefined ? ('primary' as const) : ops,
      trustProxy,
    }),
  })
}
