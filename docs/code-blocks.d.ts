/// <reference lib="dom" />
/// <reference path="../packages/vite/client/client.d.ts" />
// What the code blocks of the documents leave out: names that the text around them explains, modules that the plugin or a
// framework provides, and other runtimes. `pnpm check:documents` compiles the blocks with it.
declare const serveDist: typeof import('@serve-dist/vite').default
declare const defineConfig: typeof import('vite').defineConfig
declare const frameworkHandler: import('node:http').RequestListener
declare function vue(): import('vite').Plugin
declare function VitePWA(options?: object): import('vite').Plugin
declare function defineNuxtConfig<Config>(config: Config): Config
declare const Bun: {
  serve(options: {
    port: number
    routes: Record<string, () => Response>
    fetch(request: Request): Promise<Response>
  }): void
}
declare const Deno: { serve(options: object, answer: (request: Request) => Promise<Response>): void }

// What the plugin writes for the configuration of docs/environment.md.
declare module 'virtual:serve-dist/env' {
  const env: { readonly API_URL: string; readonly RELEASE: string; readonly LIMIT: number }
  export default env
}

// The tests of frameworks compile the configurations of `examples` with the frameworks' own types.
declare module '@astrojs/node'
declare module '@react-router/dev/config' {
  export type Config = { presets?: object[] }
}
declare module '@react-router/dev/vite' {
  export function reactRouter(): import('vite').Plugin
}
declare module '@sveltejs/kit/vite' {
  export function sveltekit(options: object): import('vite').Plugin
}
declare module '@vitejs/plugin-vue' {
  export default function vue(): import('vite').Plugin
}
declare module '@sveltejs/adapter-static'
declare module 'astro/config'
declare module 'vitepress'

// Packages of the pages in `migrate`: their tests in e2e/further use the real ones.
declare module 'sirv' {
  export default function sirv(
    folder: string,
    options: {
      etag?: boolean
      maxAge?: number
      immutable?: boolean
      single?: boolean
      setHeaders?(response: import('node:http').ServerResponse, path: string): void
    },
  ): import('node:http').RequestListener
}
declare module 'vite-plugin-compression' {
  export default function viteCompression(options?: object): import('vite').Plugin
}
declare module 'vite-plugin-compression2' {
  export function compression(options?: object): import('vite').Plugin
}
