import type { FieldValues } from '@serve-dist/manifest'

/**
 * What is recommended today for every answer of a static application (OWASP Secure Headers Project; MDN,
 * "Practical security implementation guides"). `Content-Security-Policy` is not among them: only the
 * application knows its own; nor is `Strict-Transport-Security`, which belongs to whoever ends TLS.
 */
export const securityFields: FieldValues = {
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** What is recommended for pages besides. */
export const pageSecurityFields: FieldValues = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'X-Frame-Options': 'SAMEORIGIN',
}
