// What runs in a process of its own: `vite build` of a tree with the plugins of one contender.
import { build } from 'vite'
import { compressorsOf } from './compressors.ts'
import type { Contender } from './contender.ts'
import { emitTree } from './emit-tree.ts'

const [description = '', tree = '', outDir = '', cacheDir = '', changed] = process.argv.slice(2)
const contender: Contender = JSON.parse(description)

await build({
  root: tree,
  configFile: false,
  publicDir: false,
  logLevel: 'warn',
  cacheDir,
  plugins: [emitTree(tree, changed), ...(await compressorsOf(contender, outDir))],
  build: { outDir, emptyOutDir: true, assetsInlineLimit: 0, reportCompressedSize: false },
})
