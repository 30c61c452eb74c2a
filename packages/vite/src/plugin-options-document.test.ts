import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { serveDistOptionNames } from './serve-dist-options.ts'

const file = fileURLToPath(new URL('../../../docs/plugin-options.md', import.meta.url))

const introduction = `# Plugin options

<!-- Made from the doc comments of the options: pnpm exec vitest run --project unit plugin-options-document -u -->

Every option has a default. The plugin reads \`base\`, \`appType\`, \`outDir\` and \`assetsDir\` from Vite's configuration. The
[integrations for frameworks](frameworks.md) have the same options.

\`\`\`ts
// vite.config.ts
import { defineConfig } from 'vite'
import serveDist from '@serve-dist/vite'

export default defineConfig({
  plugins: [serveDist({ exclude: ['**/*.map'], serving: { csp: true } })],
})
\`\`\`

A build with a wrong option fails before it starts. The error names the option and the values that it takes. A size is a
number of bytes or [a text with a unit](cli.md).`

/** Types that a reader of the document cannot look up. */
const readableTypes: Readonly<Record<string, string>> = {
  ByteSize: 'number | string',
  ContentCoding: "('zstd' | 'br' | 'gzip')",
  EnvironmentType: "'string' | 'number' | 'boolean' | 'json'",
  ServingRules: 'object',
  PreloadOptions: 'object',
  'Record<string, EnvironmentVariableOptions>': 'object',
}

const nestedFields: Readonly<Record<string, readonly Field[]>> = {
  preload: fieldsOf('./serve-dist-options.ts', 'PreloadOptions'),
  env: fieldsOf('./environment/environment-settings.ts', 'EnvironmentVariableOptions'),
}

const furtherPages: Readonly<Record<string, string>> = {
  budgets: '[Report](report.md)',
  env: '[Environment](environment.md)',
  pass: '[Frameworks](frameworks.md)',
  serving: '[Configuration](configuration.md)',
}

interface Field {
  readonly name: string
  readonly type: string
  readonly text: string
  readonly defaultValue: string
}

test('docs/plugin-options.md has every option of the plugin', async () => {
  const fields = [
    ...fieldsOf('./serve-dist-options.ts', 'ServeDistOptions'),
    ...fieldsOf('./environment/environment-settings.ts', 'EnvironmentOptions'),
    ...fieldsOf('../../precompress/src/precompress-options.ts', 'PrecompressOptions'),
    ...fieldsOf('../../precompress/src/precompress-options.ts', 'DescribeOptions'),
  ]
  const sections = serveDistOptionNames.map((name) => {
    const field = fields.find((candidate) => candidate.name === name)
    return field === undefined ? `${name} has no doc comment` : describeOption(field)
  })
  await expect(`${[introduction, ...sections].join('\n\n')}\n`).toMatchFileSnapshot(file)
})

/** Reads the optional fields of an interface, with their doc comments. */
function fieldsOf(source: string, interfaceName: string): Field[] {
  const code = readFileSync(new URL(source, import.meta.url), 'utf8')
  const [, body = ''] = new RegExp(`^export interface ${interfaceName}\\b(.*?)^\\}`, 'ms').exec(code) ?? []
  const pattern = /\/\*\*((?:(?!\*\/).)*)\*\/\s*readonly (\w+)\?: ([^\n]+)/gs
  return Array.from(body.matchAll(pattern), ([, comment = '', name = '', type = '']) => {
    const [text = '', defaultValue = ''] = comment.replaceAll(/\s+(?:\* )?/g, ' ').split('@default')
    return {
      name,
      type: readableType(type),
      text: text.replace(/[ *]+$/, '').trim(),
      defaultValue: defaultValue.trim(),
    }
  })
}

function readableType(type: string): string {
  return Object.entries(readableTypes).reduce(
    (text, [name, readable]) => text.replace(name, readable),
    type.replaceAll(/readonly |Readonly<(?=.*>$)|(?<=Readonly<.*)>$/g, ''),
  )
}

function describeOption({ name, text, ...value }: Field): string {
  const further = furtherPages[name]
  const nested = nestedFields[name] ?? []
  const items = nested.map((field) => `- \`${field.name}\`: ${field.text}\n  ${describeValue(field)}`)
  return [
    `## \`${name}\``,
    further === undefined ? text : `${text} See ${further}.`,
    describeValue(value),
    ...(items.length === 0 ? [] : [items.join('\n')]),
  ].join('\n\n')
}

function describeValue({ type, defaultValue }: Pick<Field, 'type' | 'defaultValue'>): string {
  // A default begins with its value; a comment may follow.
  const code = defaultValue.replace(/^(?:\[.*?\]|\{.*?\}|'.*?'|[\d_]+|true|false)/, '`$&`')
  return `Type: \`${type}\`. Default: ${code}.`
}
