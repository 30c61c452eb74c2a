/**
 * Shows that a commit only renames: `node scripts/compare-renames.mjs <commit>` prints each source whose syntax tree
 * differs after identifiers, property names, strings, comments and import paths are blanked.
 */
import { execFileSync } from 'node:child_process'
import { parseSync } from 'rolldown/utils'

const LANGUAGES = /\.(?:[cm]?ts|tsx|[cm]?js|jsx)$/
const BLANKED = new Set(['start', 'end', 'range', 'loc', 'shorthand', 'raw'])

const commit = process.argv[2]
if (commit === undefined)
  throw new Error('The commit is missing. Run: node scripts/compare-renames.mjs <commit>')

/** @param {string[]} args */
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 })

const changes = git('diff', '--name-status', '--find-renames=20%', '-l0', `${commit}~`, commit)
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t'))
const sources = changes.filter(([, path = '']) => LANGUAGES.test(path))
const findings = sources.flatMap(([status = '', before = '', after = before]) => {
  if (/^[AD]/.test(status)) return `${before}: ${status === 'A' ? 'added' : 'deleted'}`
  return outline(`${commit}~`, before) === outline(commit, after) ? [] : `${after}: differs`
})
const others = changes.flatMap(([, path = '']) => (LANGUAGES.test(path) ? [] : path))
console.log(
  ...findings.map((line) => `${line}\n`),
  `${sources.length} sources compared, ${findings.length} differ.`,
)
if (others.length > 0)
  console.log(`Not compared, because they are no TypeScript or JavaScript: ${others.join(', ')}`)
process.exitCode = findings.length > 0 ? 1 : 0

/** @type {(revision: string, path: string) => string} */
function outline(revision, path) {
  const { program, errors } = parseSync(path, git('show', `${revision}:${path}`), {
    preserveParens: false,
  })
  if (errors.length > 0) throw new Error(`Cannot parse ${path} of ${revision}. ${errors[0]?.message}`)
  return JSON.stringify(blank(program))
}

/** @type {(node: unknown) => unknown} */
function blank(node) {
  if (Array.isArray(node)) return node.map(blank)
  if (typeof node === 'bigint' || node instanceof RegExp) return String(node)
  if (typeof node !== 'object' || node === null) return node
  if ('value' in node && typeof node.value === 'string') return 'string'
  if ('type' in node && node.type === 'TemplateElement') return 'text'
  // An identifier may have a type, which is compared.
  const fields = Object.entries(node).filter(
    ([key, value]) => !BLANKED.has(key) && !(key === 'name' && typeof value === 'string'),
  )
  return fields.map(([key, value]) => [key, blank(value)])
}
