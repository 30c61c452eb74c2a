/** Returns a text of about this many bytes that compresses well. Each `seed` has its own text. */
export function compressibleText(bytes: number, seed = ''): string {
  const line = (index: number): string => `export const ${seed}value${index} = ${index * 7919}\n`
  let text = ''
  for (let index = 0; text.length < bytes; index += 1) text += line(index)
  return text
}
