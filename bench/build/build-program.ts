// Runs `vite build` of a tree with the plugins of one contender.
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { pathToFileURL } from 'node:url'
import { build, type PluginOption } from 'vite'
import { compressible, type Contender, minimumFileSize } from './contender.ts'
import { emitTree } from './emit-tree.ts'

const [description = '', tree = '', outDir = '', cacheDir = '', changed] = process.argv.slice(2)
const contender: Contender = JSON.parse(description)

const level = 9
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }
const compressBrotli = promisify(brotliCompress)

await build({
  root: tree,
  configFile: false,
  publicDir: false,
  logLevel: 'warn',
  cacheDir,
  plugins: [emitTree(tree, changed), ...(await compressorsOf(contender.package))],
  build: { outDir, emptyOutDir: true, assetsInlineLimit: 0, reportCompressedSize: false },
})

/** Returns the plugins of a contender, each configured as in its documentation. */
async function compressorsOf(name: string | undefined): Promise<PluginOption[]> {
  switch (name) {
    case undefined:
      return []
    case '@serve-dist/vite': {
      const { default: serveDist } = await import('@serve-dist/vite')
      return [serveDist(contender.options)]
    }
    case 'vite-plugin-compression2': {
      const { compression, defineAlgorithm } = await import('vite-plugin-compression2')
      const algorithms = [defineAlgorithm('gzip', { level }), defineAlgorithm('brotliCompress', brotli)]
      return [
        compression({ algorithms, include: compressible, threshold: minimumFileSize, logLevel: 'silent' }),
      ]
    }
    case 'rollup-plugin-gzip': {
      const { default: gzip } = await import('rollup-plugin-gzip')
      const filter = compressible
      const customCompression = async (content: string | Buffer): Promise<Buffer> =>
        await compressBrotli(content, brotli)
      return [
        gzip({ filter, minSize: minimumFileSize, gzipOptions: { level } }),
        gzip({ filter, minSize: minimumFileSize, customCompression, fileName: '.br' }),
      ]
    }
    case 'vite-plugin-compression': {
      // Its types describe the CommonJS module, of which `default` is an object.
      const { default: create }: { default: unknown } = await import('vite-plugin-compression')
      if (typeof create !== 'function') throw new TypeError('vite-plugin-compression exports no plugin')
      const settings = {
        algorithm: 'brotliCompress',
        ext: '.br',
        compressionOptions: brotli,
        filter: compressible,
        threshold: minimumFileSize,
        verbose: false,
      }
      const plugin: PluginOption = Reflect.apply(create, undefined, [settings])
      return [plugin]
    }
    case 'astro-compressor': {
      const { default: compressor } = await import('astro-compressor')
      // It has no options for levels: brotli's default is 11, gzip's 6.
      const { hooks } = compressor({ fileExtensions: ['.js', '.css', '.html', '.ttf'] })
      const logger = { info: () => {}, warn: () => {}, error: () => {} }
      const dir = pathToFileURL(`${outDir}/`)
      const closeBundle = async (): Promise<void> => {
        await Reflect.apply(hooks['astro:build:done'] ?? (() => {}), undefined, [{ dir, logger }])
      }
      return [{ name: 'astro-compressor', enforce: 'post', closeBundle }]
    }
    default:
      throw new TypeError(`unknown plugin ${name}`)
  }
}
