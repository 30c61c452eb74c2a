/** The commands, without the default command that serves. */
export const commandNames = [
  'compress',
  'report',
  'check',
  'explain',
  'carry',
  'publish',
  'rollback',
  'generations',
  'purge',
] as const

export interface Subcommand {
  readonly name: (typeof commandNames)[number]
  readonly summary: string
  readonly description: string
  readonly flags: object
  /** Whether only `--help all` lists it. */
  readonly isRare?: true
}
