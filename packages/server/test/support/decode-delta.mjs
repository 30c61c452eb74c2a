// node decode-delta.mjs <coding> <dictionary> <delta>: writes the decoded bytes to standard output.
import { readFileSync } from 'node:fs'
import zlib from 'node:zlib'

const [coding, dictionaryFile = '', deltaFile = ''] = process.argv.slice(2)
const dictionary = readFileSync(dictionaryFile)
const delta = readFileSync(deltaFile)
const decode = coding === 'dcz' ? zlib.zstdDecompressSync : zlib.brotliDecompressSync
// The magic number and the digest of the dictionary come first (RFC 9842 §4, §5).
process.stdout.write(decode(delta.subarray(coding === 'dcz' ? 40 : 36), { dictionary }))
