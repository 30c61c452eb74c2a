/** The commands besides serving. */
export const commandNames = [
  'compress',
  'report',
  'check',
  'explain',
  'publish',
  'rollback',
  'generations',
  'purge',
] as const

/** A command, as it is added to the program. */
export interface Subcommand {
  readonly name: (typeof commandNames)[number]
  readonly summary: string
  readonly description: string
  readonly flags: object
  /** Whether only the whole help lists it. */
  readonly isRare?: true
}
