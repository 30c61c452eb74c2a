import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import {
  checkFlags,
  compressFlags,
  defaultOf,
  explainFlags,
  type Flag,
  flagTerm,
  reportFlags,
  serveFlags,
} from '../../src/command/flags.ts'
import { generationsFlags, publishFlags, purgeFlags, rollbackFlags } from '../../src/command/store-flags.ts'

const file = fileURLToPath(new URL('../../../../docs/cli.md', import.meta.url))

const introduction = `# The command line

<!-- Made from packages/server/src/command/flags.ts: pnpm exec vitest run --project unit cli-document -u -->

- \`serve-dist [dir]\` serves a build; [its options](#serve-dist-dir).
- \`serve-dist compress [dir]\` compresses and describes a finished folder, whatever wrote it; [its options](#serve-dist-compress-dir).
- \`serve-dist report [dir]\` shows what a build weighs; [its options](#serve-dist-report-dir).
- \`serve-dist check [target]\` looks for [faults](check.md), in a folder or at an address;
  [its options](#serve-dist-check-target).
- \`serve-dist explain <path> [dir]\` shows by which steps a request [gets its answer](explain.md);
  [its options](#serve-dist-explain-path-dir).
- \`serve-dist publish [dir]\` puts a build into a [store](deploys.md); [its options](#serve-dist-publish-dir).
- \`serve-dist rollback [id]\` makes an earlier build of a store current again; [its options](#serve-dist-rollback-id).
- \`serve-dist generations\` lists the builds of a store; [its options](#serve-dist-generations).
- \`serve-dist purge <id>\` takes a build out of a store at once; [its options](#serve-dist-purge-id).

\`[dir]\` is \`dist\` by default. A flag outranks its environment variable, and both outrank the default. A variable that is
set to nothing counts as not set.

\`--host\` alone listens on all addresses, as in Vite. The next word is its value where it is an IP address, \`localhost\`, or
a name with a dot and nothing of that name lies here; any other name is written \`--host=<name>\`. \`--csp\` alone is
\`--csp=enforce\`; the next word is its value where it is one of its modes.

A size is a number of bytes, or has a unit: \`kb\`, \`mb\`, \`gb\` of 1,000; \`k\`, \`m\`, \`g\` or \`kib\`, \`mib\`, \`gib\` of
1,024. Options of the plugin and of hosts take the same texts (\`minimumSize: '1kb'\`).

An error is one message on standard error, \`serve-dist:\` and its [code](errors.md) first and the cure last, and exit
code 1. \`report\` and \`check\` end with 1 for what they find, too.`

test('docs/cli.md has every flag of the command', async () => {
  const document = [
    introduction,
    '## `serve-dist [dir]`',
    ...sectionOf(serveFlags, '###'),
    '## `serve-dist compress [dir]`',
    ...sectionOf(compressFlags),
    '## `serve-dist report [dir]`',
    ...sectionOf(reportFlags),
    '## `serve-dist check [target]`',
    ...sectionOf(checkFlags),
    '## `serve-dist explain <path> [dir]`',
    ...sectionOf(explainFlags, '###'),
    '## `serve-dist publish [dir]`',
    ...sectionOf(publishFlags),
    '## `serve-dist rollback [id]`',
    ...sectionOf(rollbackFlags),
    '## `serve-dist generations`',
    ...sectionOf(generationsFlags),
    '## `serve-dist purge <id>`',
    ...sectionOf(purgeFlags),
  ]
  await expect(`${document.join('\n\n')}\n`).toMatchFileSnapshot(file)
})

/** One list of flags for each group, under a heading where there are several. */
function sectionOf(table: Readonly<Record<string, Flag>>, heading?: string): string[] {
  const groups = new Set(Object.values(table).map(({ group }) => group))
  return [...groups].map((group) => {
    const flags = Object.entries(table).filter(([, flag]) => flag.group === group)
    const lines = flags.map(([name, flag]) => describeFlag(name, flag)).join('\n')
    return heading === undefined ? lines : `${heading} ${group}\n\n${lines}`
  })
}

function describeFlag(name: string, flag: Flag): string {
  const { help, environment, isRepeatable, choices, value } = flag
  const notes = [
    ...(isRepeatable === true ? ['Repeatable.'] : []),
    ...(value === undefined || choices === undefined ? [] : [`One of: ${choices.join(', ')}.`]),
    ...(defaultOf(flag) === undefined ? [] : [`Default: ${defaultOf(flag)}.`]),
    ...(environment === undefined ? [] : [`Environment: \`${environment}\`.`]),
  ]
  const term = `\`${flagTerm(name, flag)}\``
  return [`- ${term}: ${help}.`, ...(notes.length === 0 ? [] : [`  ${notes.join(' ')}`])].join('\n')
}
