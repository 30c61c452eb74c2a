import packageJson from '@serve-dist/vite/package.json' with { type: 'json' }

/** The address of the repository on GitHub, without a slash at the end. */
export const repository: string = packageJson.repository.url.replace(/^git\+|\.git$/g, '')
