export type { ByteSize } from './byte-size.ts'
export {
  type ContentCoding,
  type ContentCodingEntry,
  contentCodings,
  type DeltaCoding,
} from './content-coding.ts'
export { deltaHeader } from './delta-header.ts'
export {
  type BuildPolicy,
  countingPolicyRules,
  createContentSecurityPolicy,
  enforcedOnly,
  isReportOnly,
  longPolicyBytes,
  mostPolicyBytes,
  type PagePolicy,
  policyFieldName,
  type PolicyParts,
  type PolicyRules,
  type PolicySource,
} from './content-security-policy.ts'
export { type PolicyDirective, policyDirectives } from './policy-directives.ts'
export { beside, type PlacedRules, policyConflicts } from './policy-conflicts.ts'
export { environmentOrigins, type EnvironmentOrigins } from './environment-origins.ts'
export {
  environmentDefaults,
  environmentModule,
  type EnvironmentSource,
  type EnvironmentType,
  environmentTypes,
  type EnvironmentValues,
  type EnvironmentVariable,
  isSecretName,
  readEnvironment,
  type RuntimeEnvironment,
} from './runtime-environment.ts'
export { isBasePath } from './is-base-path.ts'
export {
  type AppType,
  appTypes,
  buildIdPath,
  carriedDeltasPath,
  carriedFolder,
  carriedListPath,
  type CacheClass,
  keptListPath,
  largestKeptList,
  type Manifest,
  type ManifestFile,
  type ManifestLink,
  manifestPath,
  type ManifestVariant,
  manifestVersion,
  pendingPath,
  recordPath,
  type Selection,
  stateDirectory,
} from './manifest.ts'
export { isCarried } from './is-carried.ts'
export { describeListedBuild } from './describe-listed-build.ts'
export {
  countListParts,
  type KeptList,
  type ListedBuild,
  type ListedFile,
  mostListParts,
  parseKeptList,
} from './parse-kept-list.ts'
export { parseManifest } from './parse-manifest.ts'
export { pathProblem } from './path-problem.ts'
export { stringifyManifest } from './stringify-manifest.ts'
export { variantPath } from './variant-path.ts'
export { dictionariesOf, type Dictionary } from './dictionaries.ts'
export type { ChangedFile, Download } from './download.ts'
export type { Fields, OptionalSchema, Schema } from './schema.ts'
/** Schemas of options and documents for the packages of serve-dist. */
export * as s from './schemas.ts'
export { fieldProblem } from './field-grammar.ts'
export { servingRuleNames } from './serving-rules-schema.ts'
export {
  type Fallback,
  fallbacks,
  type Preference,
  preferences,
  sourceMapChoices,
  type SourceMaps,
  type EnvironmentAddress,
  type EnvironmentText,
  type FieldValues,
  type PlainServingRules,
  type BasicAuthRule,
  type ProxyFields,
  type ProxyHost,
  type RedirectRule,
  type RedirectStatus,
  redirectStatuses,
  type ServingRules,
} from './serving-rules.ts'
export { variableOfValue } from './redirect-problem.ts'
export {
  completeProxyAddress,
  isProxyAddress,
  parseProxyAddress,
  type ProxyAddress,
  proxyAddressForm,
} from './proxy-address.ts'
export { isProxyRule, proxyFieldProblem } from './proxy-options-schema.ts'
export { redirectTargetProblem } from './redirect-problem.ts'
export { checkServingRules } from './check-serving-rules.ts'
export { isCompressible } from './is-compressible.ts'
export { isSourceMap } from './is-source-map.ts'
export { servedFiles, servingFiles } from './served-files.ts'
export { isDocumentType, isPageType, mediaTypeOf } from './media-type-of.ts'
export { loadOptional } from './load-optional.ts'
export { OperatorError, type OperatorErrorCode, type OperatorErrorOptions } from './operator-error.ts'
export {
  buildNotFound,
  buildUnfinished,
  compressionMissing,
  compressCommand,
  manifestCure,
  manifestInvalid,
  manifestMissing,
  shellWord,
} from './read-problems.ts'
export { type BuildRetention, defaultRetention, isRetained } from './retention.ts'
export { servedBase } from './served-base.ts'
