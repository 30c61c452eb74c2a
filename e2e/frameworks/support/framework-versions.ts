/** The dependencies of a project that another version of a framework needs: names and ranges. */
export type Dependencies = Readonly<Record<string, string>>

/** A version of a framework, for `describe.each`. */
export interface FrameworkVersion {
  readonly version: string
  /** What takes the place of the example's own dependencies; none for the latest version. */
  readonly dependencies: Dependencies
}

/**
 * The latest version, which is the one that the example names, and where SERVE_DIST_FRAMEWORKS is `all` (every night)
 * the versions before it.
 */
export function frameworkVersions(
  latest: string,
  before: Readonly<Record<string, Dependencies>>,
): FrameworkVersion[] {
  const older = Object.entries(before).map(([version, dependencies]) => ({ version, dependencies }))
  const all = [{ version: latest, dependencies: {} }, ...older]
  return process.env['SERVE_DIST_FRAMEWORKS'] === 'all' ? all : all.slice(0, 1)
}
