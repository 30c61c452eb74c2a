import withServeDist from '@serve-dist/vite/vitepress'
import { slug } from 'github-slugger'
import { createCssVariablesTheme } from 'shiki'
import { defineConfig } from 'vitepress'
import { checkAnchors } from './check-anchors.ts'
import { navigation, sidebar } from './navigation.ts'
import { repository } from './repository.ts'
import { repositoryLinks } from './repository-links.ts'
import { alignmentClasses, codeClasses } from './style-classes.ts'
import { verbatimCode } from './verbatim-code.ts'

export default withServeDist(
  defineConfig({
    title: 'serve-dist',
    description: 'Compress a Vite build once. Serve it with a production server.',
    lang: 'en',
    cleanUrls: true,
    // Not `.vitepress/dist`: in the repository's root, serve-dist proposes that folder if `dist` is missing.
    outDir: './dist',
    srcExclude: ['README.md'],
    rewrites: { 'benchmarks/README.md': 'benchmarks/index.md' },
    // By default the content has a `style` attribute, which the policy does not allow.
    contentProps: {},
    // Site data in one cached file instead of an inline script in each page.
    metaChunk: true,
    // The policy of the site allows no <style> element that a script adds.
    appearance: { disableTransition: false },
    transformHead: ({ siteData: { base } }) => [
      ['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}favicon.svg` }],
    ],
    markdown: {
      theme: createCssVariablesTheme({ variablePrefix: '--code-' }),
      languageAlias: { _redirects: 'txt', _headers: 'txt' },
      codeTransformers: [codeClasses],
      image: { lazyLoading: true },
      // The same anchors as on GitHub.
      anchor: { slugify: slug },
      config(markdown) {
        markdown.use(verbatimCode).use(repositoryLinks).use(alignmentClasses)
      },
    },
    themeConfig: {
      nav: navigation,
      sidebar,
      outline: [2, 3],
      search: { provider: 'local' },
      editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page on GitHub' },
      notFound: {
        title: 'Page not found',
        quote: 'This site has no page at this address. The search finds every page.',
        linkText: 'Go to the start page',
        linkLabel: 'Go to the start page',
      },
      socialLinks: [{ icon: 'github', link: repository, ariaLabel: 'GitHub' }],
    },
    // The outline of a page on a phone has a height that a script sets. Its initial value is not needed.
    transformHtml: (html) => html.replace(' style="--vp-vh:0px;"', ''),
    buildEnd: ({ outDir, site }) => checkAnchors(outDir, site.base),
  }),
  // Every browser takes brotli, which has the smallest variants of pages. A build without zstd takes half the time.
  { codings: ['br', 'gzip'], serving: { csp: true } },
)
