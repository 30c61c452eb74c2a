/** Loaded on demand. */
export const range = 'About twenty nautical miles, on a clear night.'
