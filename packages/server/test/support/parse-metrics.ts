const metric = /^# (HELP|TYPE) ([a-z_]\w*) (\S.*)$/
const sampleForm =
  /^([a-z_]\w*)(\{(?:\w+="(?:[^"\\\n]|\\.)*",?)+\})? (-?[\d.]+(?:e[+-]?\d+)?|[+-]Inf|NaN|Nan)$/

/**
 * Parses the text format of Prometheus more strictly than Prometheus does. Each metric needs help and a type,
 * and no metric or sample may repeat.
 *
 * @returns the values of samples by name with labels
 */
export function parseMetrics(text: string): ReadonlyMap<string, number> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const introduced = new Set<string>()
  const samples = new Map<string, number>()
  for (const line of text.trimEnd().split('\n')) {
    const [, keyword = '', introducing = '', what = ''] = metric.exec(line) ?? []
    if (introducing !== '') {
      if (introduced.has(`${keyword} ${introducing}`)) throw new Error(`introduced twice: ${line}`)
      if (keyword === 'TYPE' && !/^(?:counter|gauge|histogram|summary)$/.test(what)) throw new Error(line)
      introduced.add(`${keyword} ${introducing}`)
    } else if (line !== '') {
      const [, name = '', labels = '', value = ''] = sampleForm.exec(line) ?? []
      if (name === '') throw new Error(`no sample: ${line}`)
      const owners = [name, name.replace(/_(?:bucket|sum|count)$/, '')]
      const isIntroduced = owners.some((owner) => introduced.has(`TYPE ${owner}`))
      if (!isIntroduced || samples.has(name + labels)) throw new Error(`not introduced, or twice: ${line}`)
      samples.set(name + labels, Number(value.replace('Inf', 'Infinity')))
    }
  }
  return samples
}
