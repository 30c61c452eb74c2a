/** Names and version ranges of dependencies that another framework version needs. */
export type Dependencies = Readonly<Record<string, string>>

/** A version of a framework, for `describe.each`. */
export interface FrameworkVersion {
  readonly version: string
  /** Dependencies that replace the example's own. Empty for the latest version. */
  readonly dependencies: Dependencies
}

/**
 * Returns the latest version, which the example uses. With SERVE_DIST_FRAMEWORKS=all (every night), also
 * returns earlier ones.
 */
export function frameworkVersions(
  latest: string,
  before: Readonly<Record<string, Dependencies>>,
): FrameworkVersion[] {
  const older = Object.entries(before).map(([version, dependencies]) => ({ version, dependencies }))
  const all = [{ version: latest, dependencies: {} }, ...older]
  return process.env['SERVE_DIST_FRAMEWORKS'] === 'all' ? all : all.slice(0, 1)
}
