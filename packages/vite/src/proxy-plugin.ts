import type { ClientRequest } from 'node:http'
import { resolve } from 'node:path'
import { escapePattern } from '@serve-dist/foundation/text/escape-pattern'
import {
  completeProxyAddress,
  type EnvironmentSource,
  isProxyRule,
  parseProxyAddress,
  type ProxyFields,
  type ServingRules,
} from '@serve-dist/manifest'
import type { Plugin, ProxyOptions, UserConfig } from 'vite'
import { loadVariables } from './environment/load-variables.ts'
import { pluginName, warnOnce } from './instances.ts'

type Rule = NonNullable<ServingRules['redirects']>[number]
type Proxies = Record<string, string | ProxyOptions>

/** Creates a plugin that makes `vite dev` and `vite preview` forward the paths of rules that proxy. */
export function proxyPlugin({ redirects = [] }: ServingRules): Plugin {
  const rules = redirects.filter((rule) => isProxyRule(rule) && hasPrefix(rule))
  const problems: string[] = []
  return {
    name: `${pluginName}:proxy`,
    apply: 'serve',
    async config({ server, preview, root = '', envDir = '' }, { mode, isPreview = false }) {
      problems.length = 0
      if (rules.length === 0) return undefined
      const folder = envDir === false ? envDir : resolve(root, envDir)
      const variables = await loadVariables({ mode, envDir: folder })
      const proxyOf = (own: UserProxies): Proxies =>
        Object.fromEntries(
          rules.flatMap((rule) => {
            if (isSetByUser(rule, own)) return []
            const entry = proxyEntry(rule, { variables, isPreview })
            if (entry !== undefined) return [entry]
            // In a preview, the server reports it.
            if (!isPreview) problems.push(describeUnset(rule))
            return []
          }),
        )
      return {
        server: { proxy: proxyOf(server?.proxy) },
        // Without its own proxies, a preview has those of the server.
        ...(preview?.proxy !== undefined && { preview: { proxy: proxyOf(preview.proxy) } }),
      }
    },
    configResolved: (config) => warnOnce(config, problems),
  }
}

function describeUnset({ from, to }: Rule): string {
  const name = typeof to === 'object' ? to.env : ''
  return `[serve-dist] requests for ${from} are not forwarded: ${name} is not set, or its value is no address. Set it in the environment or in a file such as .env.`
}

type UserProxies = NonNullable<UserConfig['server']>['proxy']

/** Returns the path of a rule without `/*`. */
function prefixOf({ from }: Rule): string {
  return from.replace(/\/\*$/, '')
}

/** Returns whether Vite can follow a rule: not for all paths, and not with variables in paths. */
function hasPrefix(rule: Rule): boolean {
  const prefix = prefixOf(rule)
  return prefix !== '' && !prefix.includes(':')
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

/** Returns `undefined` if the environment has no address for a rule. */
function proxyEntry(rule: Rule, { variables, isPreview }: ProxyChoice): [string, ProxyOptions] | undefined {
  const prefix = prefixOf(rule)
  const { from, to, host, timeout, request = {}, answer = {}, development } = rule
  const address = parseProxyAddress(writtenAddress(rule, variables))
  const target = isPreview || development === undefined ? address : parseProxyAddress(development)
  if (target === undefined) return undefined
  // Without an address, `development` needs the path alone.
  const template = address === undefined && typeof to === 'object' ? to.path : address?.path
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
    `^${escapePattern(prefix)}${prefix === from ? '/?(?:[?]|$)' : '(?:[/?]|$)'}`,
    {
      target: place,
      ws: true,
      xfwd: true,
      changeOrigin: host === 'target',
      headers: Object.fromEntries(sent),
      ...(typeof timeout === 'number' && { proxyTimeout: timeout }),
      rewrite: (path) => (template === undefined ? path : fillPath(template, prefix, path)),
      configure(proxy) {
        const removed = Object.keys(request).filter((name) => request[name] === null)
        const remove = (outgoing: ClientRequest): void => {
          for (const name of removed) outgoing.removeHeader(name)
        }
        proxy.on('proxyReq', remove)
        proxy.on('proxyReqWs', remove)
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

function writtenAddress({ from, to }: Rule, variables: EnvironmentSource): string {
  return typeof to === 'string' ? to : completeProxyAddress(variables[to.env] ?? '', { from, path: to.path })
}

/** Replaces the path below a prefix, with one slash between. The query stays. */
function fillPath(template: string, prefix: string, target: string): string {
  const [, path = '', query = ''] = /^([^?]*)(.*)$/s.exec(target) ?? []
  const rest = path.slice(prefix.length)
  const filled = template.replace(/\/:splat$/, () => rest).replaceAll(':splat', () => rest.slice(1))
  return (filled || '/') + query
}
