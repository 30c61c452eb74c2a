/**
 * The directives of CSP Level 3 (§6), with those of Trusted Types and Upgrade Insecure Requests, in the order in which
 * they are sent: what each takes. `code` is places, and what may run or apply.
 */
const directives = {
  'default-src': 'code',
  'script-src': 'code',
  'script-src-elem': 'code',
  'script-src-attr': 'code',
  'style-src': 'code',
  'style-src-elem': 'code',
  'style-src-attr': 'code',
  'img-src': 'places',
  'font-src': 'places',
  'connect-src': 'places',
  'media-src': 'places',
  'manifest-src': 'places',
  'worker-src': 'places',
  'child-src': 'places',
  'frame-src': 'places',
  'form-action': 'places',
  'object-src': 'places',
  'base-uri': 'places',
  'frame-ancestors': 'places',
  sandbox: 'permissions',
  'upgrade-insecure-requests': 'nothing',
  'require-trusted-types-for': 'sinks',
  'trusted-types': 'policies',
  'report-to': 'endpoint',
  'report-uri': 'addresses',
} as const

export type PolicyDirective = keyof typeof directives

/** What a directive takes. */
export type DirectiveTakes = (typeof directives)[PolicyDirective]

/** In the order in which they are sent. */
export const policyDirectives: readonly PolicyDirective[] = Object.keys(directives).filter(isPolicyDirective)

function isPolicyDirective(name: string): name is PolicyDirective {
  return Object.hasOwn(directives, name)
}

export function directiveTakes(name: PolicyDirective): DirectiveTakes {
  return directives[name]
}
