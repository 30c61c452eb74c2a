/**
 * The directives of CSP Level 3 (§6), Trusted Types and Upgrade Insecure Requests with the kind of their values. They
 * are sent in this order. `places` are sources; `code` also has keywords and hashes for code.
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

/** The kind of a directive's values. */
export type DirectiveTakes = (typeof directives)[PolicyDirective]

/** All directives, in the order in which they are sent. */
export const policyDirectives: readonly PolicyDirective[] = Object.keys(directives).filter(isPolicyDirective)

function isPolicyDirective(name: string): name is PolicyDirective {
  return Object.hasOwn(directives, name)
}

export function directiveTakes(name: PolicyDirective): DirectiveTakes {
  return directives[name]
}
