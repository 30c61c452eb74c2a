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
import {
  carryFlags,
  generationsFlags,
  publishFlags,
  purgeFlags,
  rollbackFlags,
} from '../../src/command/store-flags.ts'

const file = fileURLToPath(new URL('../../../../docs/cli.md', import.meta.url))

const introduction = `# The command line

<!-- Made from packages/server/src/command/flags.ts: pnpm exec vitest run --project unit cli-document -u -->

- \`serve-dist [dir...]\` serves a build, or several: [options](#serve-dist-dir).
- \`serve-dist compress [dir]\` compresses a folder that is already built, and writes its manifest:
  [options](#serve-dist-compress-dir).
- \`serve-dist report [dir]\` shows the size of a build: [options](#serve-dist-report-dir).
- \`serve-dist check [target]\` [finds problems](check.md) in a folder or on a site:
  [options](#serve-dist-check-target).
- \`serve-dist explain <path> [dir]\` [explains the answer](explain.md) to a request:
  [options](#serve-dist-explain-path-dir).
- \`serve-dist carry <url> [dir]\` adds the hashed files of the running site to a [new build](deploys.md#without-a-store):
  [options](#serve-dist-carry-url-dir).
- \`serve-dist publish [dir]\` publishes a build to a [store](deploys.md): [options](#serve-dist-publish-dir).
- \`serve-dist rollback [id]\` goes back to an earlier build of a store: [options](#serve-dist-rollback-id).
- \`serve-dist generations\` lists the builds of a store: [options](#serve-dist-generations).
- \`serve-dist purge <id>\` deletes a build from a store immediately: [options](#serve-dist-purge-id).

\`[dir]\` is \`dist\` by default. A flag overrides its environment variable, and both override the default. An empty
variable counts as not set.

\`--host\` without a value listens on all addresses, as in Vite. The command takes the next word as the value if it is:

- an IP address;
- \`localhost\`;
- a name that contains a dot, if no file or folder has this name.

Write other names as \`--host=<name>\`. \`--csp\` without a value means \`--csp=enforce\`. The command takes the next word as
the value if it is a mode of \`--csp\`.

A size is a number of bytes, optionally with a unit. \`kb\`, \`mb\` and \`gb\` are powers of 1,000. \`k\`, \`m\`, \`g\`, \`kib\`,
\`mib\` and \`gib\` are powers of 1,024. Options of the plugin and of hosts accept the same units (\`minimumSize: '1kb'\`).

The command writes an error to standard error and exits with code 1. The message begins with \`serve-dist:\` and the
[error code](errors.md), and ends with the fix. \`report\` and \`check\` also exit with code 1 if they find problems.`

test('docs/cli.md has every flag of the command', async () => {
  const document = [
    introduction,
    '## `serve-dist [dir...]`',
    ...sectionOf(serveFlags, '###'),
    '## `serve-dist compress [dir]`',
    ...sectionOf(compressFlags),
    '## `serve-dist report [dir]`',
    ...sectionOf(reportFlags),
    '## `serve-dist check [target]`',
    ...sectionOf(checkFlags),
    '## `serve-dist explain <path> [dir]`',
    ...sectionOf(explainFlags, '###'),
    '## `serve-dist carry <url> [dir]`',
    ...sectionOf(carryFlags),
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

/** Formats one list of flags for each group, with a heading if there are several. */
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
