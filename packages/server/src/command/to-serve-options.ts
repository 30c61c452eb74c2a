import { omitUndefined } from './omit-undefined.ts'
import type { GivenFlags } from './flags.ts'
import { openRules } from '../rules/read-rules.ts'
import type { ServeOptions } from '../serve/serve-options.ts'
import type { WorkerRole } from '../serve/workers/worker-role.ts'
import { toStoreOptions } from './served-store.ts'

/** Returns the options of `serve` for the flags and the role of a worker. */
export async function toServeOptions(
  directories: readonly string[],
  flags: GivenFlags,
  { descriptor, port = flags.port, isFirst, isReplacement = false }: Partial<WorkerRole>,
): Promise<ServeOptions> {
  const { host, grace, socket, tlsCert, tlsKey, redirectHttp, hsts, allowHost, ssr } = flags
  const { verify, force = false, memoryBudget, envFile, engine } = flags
  const { fsFallback, accessLog, ops, trustProxy } = flags
  const rules = await openRules(process.cwd(), flags)
  // A replacement must accept the build that the other workers serve.
  const unlisted = force || isReplacement ? ('warn' as const) : undefined
  // Only the first worker or its replacement warns, and only the primary process serves `--ops`.
  const onWarning = isFirst === false ? () => {} : undefined
  const isWorker = isFirst !== undefined
  const tls =
    tlsCert === undefined || tlsKey === undefined
      ? undefined
      : omitUndefined({ cert: tlsCert, key: tlsKey, redirectPort: redirectHttp, hsts })
  const store = toStoreOptions(flags)
  return omitUndefined({
    ...(store ?? { directory: directories }),
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
      // They have no effect for a store; `flags.ts` warns about them.
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
