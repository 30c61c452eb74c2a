/** The only difference between the builds: `deploys.mjs` sets it to 1, 2 and 3. */
export const release = import.meta.env.VITE_RELEASE ?? 'of today'
