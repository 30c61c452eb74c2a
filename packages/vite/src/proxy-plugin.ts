import { escapePattern } from '@serve-dist/foundation/text/escape-pattern'
import {
  type EnvironmentSource,
  isProxyRule,
  parseProxyAddress,
  type ProxyFields,
  type ServingRules,
} from '@serve-dist/manifest'
import type { Plugin, ProxyOptions, UserConfig } from 'vite'
import { pluginName } from './instances.ts'

type Rule = NonNullable<ServingRules['redirects']>[number]
type Proxies = Record<string, string | ProxyOptions>

/** Creates a plugin that makes `vite dev` and `vite preview` forward the paths of rules that proxy. */
export function proxyPlugin({ redirects = [] }: ServingRules): Plugin {
  return {
    name: `${pluginName}:proxy`,
    apply: 'serve',
    async config(config, { mode, isPreview = false }) {
      const rules = redirects.filter(isProxyRule)
      if (rules.length === 0) return undefined
      const variables = await loadVariables(config, mode)
      const proxyOf = (own: UserProxies): Proxies =>
        Object.fromEntries(
          rules.flatMap((rule) => {
            const entry = isSetByUser(rule, own) ? undefined : proxyEntry(rule, { variables, isPreview })
            return entry === undefined ? [] : [entry]
          }),
        )
      const { server, preview } = config
      return {
        server: { proxy: proxyOf(server?.proxy) },
        // Without its own proxies, a preview has those of the server.
        ...(preview?.proxy !== undefined && { preview: { proxy: proxyOf(preview.proxy) } }),
      }
    },
  }
}

type UserProxies = NonNullable<UserConfig['server']>['proxy']

async function loadVariables({ envDir, root }: UserConfig, mode: string): Promise<EnvironmentSource> {
  if (envDir === false) return process.env
  const { loadEnv } = await import('vite')
  return loadEnv(mode, envDir ?? root ?? process.cwd(), '')
}

/** Returns the path of a rule without `/*`. */
function prefixOf({ from }: Rule): string {
  return from.replace(/\/\*$/, '')
}

function isSetByUser(rule: Rule, proxies: UserProxies): boolean {
  const prefix = prefixOf(rule)
  return Object.keys(proxies ?? {}).some((key) =>
    key.startsWith('^') ? new RegExp(key).test(`${prefix}/`) : key === prefix || key === `${prefix}/`,
  )
}

interface ProxyChoice {
  readonly variables: EnvironmentSource
  readonly isPreview: boolean
}

/** Returns `undefined` for rules that Vite cannot follow: all other paths, variables in paths, and unset addresses. */
function proxyEntry(rule: Rule, { variables, isPreview }: ProxyChoice): [string, ProxyOptions] | undefined {
  const prefix = prefixOf(rule)
  const { to, host, timeout, request = {}, answer = {}, development } = rule
  const written = typeof to === 'string' ? to : `${variables[to.env] ?? ''}${to.path ?? ''}`
  const address = parseProxyAddress(written)
  const target = isPreview || development === undefined ? address : parseProxyAddress(development)
  if (prefix === '' || prefix.includes(':') || target === undefined) return undefined
  const template = address?.path
  const start =
    template === undefined || template === `${prefix}/:splat` ? prefix : template.replace(/\/:splat$/, '')
  const { socketPath } = target
  // A part of an address, as in `http.request`.
  const place = socketPath === undefined ? target.origin : { host: 'localhost', port: 80, socketPath }
  const textOf = (value: ProxyFields[string]): unknown =>
    typeof value === 'object' ? value && variables[value.env] : value
  const sent = Object.entries(request).flatMap(([name, value]): [string, string][] => {
    const text = textOf(value)
    return typeof text === 'string' ? [[name, text]] : []
  })
  return [
    `^${escapePattern(prefix)}(?:[/?]|$)`,
    {
      target: place,
      ws: true,
      xfwd: true,
      changeOrigin: host === 'target',
      headers: Object.fromEntries(sent),
      ...(typeof timeout === 'number' && { proxyTimeout: timeout }),
      rewrite: (path) => start + path.slice(prefix.length) || '/',
      configure(proxy) {
        proxy.on('proxyRes', ({ headers }) => {
          for (const [name, value] of Object.entries(answer)) {
            const text = textOf(value)
            if (typeof text === 'string') headers[name.toLowerCase()] = text
            else Reflect.deleteProperty(headers, name.toLowerCase())
          }
        })
      },
    },
  ]
}
