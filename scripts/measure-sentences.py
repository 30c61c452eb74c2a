#!/usr/bin/env python3
"""Measures sentences of Markdown files, and of messages in TypeScript files.

Install textstat, then run scripts/measure-sentences.py docs/cli.md README.md packages/server/src/check/finding-messages.ts.
"""
import json
import re
import subprocess
import sys
import textstat

LITERALS = """
import { readFileSync } from 'node:fs'
import { parseSync } from 'rolldown/utils'
const text = readFileSync(process.argv[1], 'utf8')
const found = []
const visit = (node) => {
  if (typeof node?.value === 'string' && node.type === 'Literal') found.push([node.start, node.value])
  if (node?.quasis) found.push([node.start, node.quasis.map(({ value }) => value.cooked).join('Code')])
  if (typeof node === 'object' && node !== null) Object.values(node).forEach(visit)
}
visit(parseSync(process.argv[1], text).program)
console.log(JSON.stringify(found.map(([start, value]) => [text.slice(0, start).split('\\n').length, value])))
"""

def messages(path):
    """Yields line number and text of each line in a literal of at least four words."""
    output = subprocess.run(['node', '--input-type=module', '-e', LITERALS, path], capture_output=True, text=True, check=True)
    for start, value in json.loads(output.stdout):
        yield from ((start, line) for line in value.split('\n') if re.search(r'([a-z]+[,:;]? +){3}', line, re.I) and '<' not in line[:2])

def blocks(text):
    """Yields line number and text of each paragraph, list item and table cell, without code and headings."""
    text = re.sub(r'<!--.*?-->', lambda found: '\n' * found.group().count('\n'), text, flags=re.S)
    fenced, start, lines = False, 0, []
    for number, line in enumerate([*text.split('\n'), ''], 1):
        is_fence = re.match(r'\s*(```|~~~|:::)', line)
        is_code = is_fence or fenced or (line.startswith('    ') and not lines)
        is_break = is_code or not line.strip(' >') or line.lstrip().startswith(('#', '|', '---'))
        if lines and (is_break or re.match(r'\s*(>\s*)?([-*]|\d+\.)\s', line)):
            yield start, '\n'.join(lines)
            lines = []
        fenced ^= bool(is_fence) and ':::' not in line
        if line.lstrip().startswith('|') and not fenced:
            yield from ((number, cell) for cell in re.split(r'(?<!\\)\|', line) if len(cell.split()) > 5)
        elif not is_break:
            start = start if lines else number
            lines.append(re.sub(r'^\s*(>\s*)?([-*]|\d+\.)\s', '', line))

total = []
for path in sys.argv[1:]:
    counts, long = [], []
    for line, block in messages(path) if path.endswith('.ts') else blocks(open(path, encoding='utf8').read()):
        plain = re.sub(r'\]\([^)]*\)', '', re.sub(r'(`+)[^`].*?\1', 'Code', block, flags=re.S))
        plain = re.sub(r'\b(e\.g|i\.e|etc|vs)\.|(?<=\d)\.(?=\d)', '', plain).replace('[', '').replace('**', '')
        for sentence in re.finditer(r'\S.*?(?:[.!?]["”)]*(?=\s)|\Z)', plain, re.S):
            counts.append(textstat.lexicon_count(sentence.group()))
            at = line + plain[: sentence.start()].count('\n')
            if counts[-1] > 25: long.append(f'{path}:{at}: {counts[-1]} words: {" ".join(sentence.group().split())[:100]}')
    print(*long, f'{path}: {len(counts)} sentences, {sum(counts) / max(1, len(counts)):.1f} words on average, {len(long)} over 25', sep='\n')
    total += counts
print(f'{len(total)} sentences, {sum(total) / max(1, len(total)):.1f} words on average, {sum(n > 25 for n in total)} over 25')
