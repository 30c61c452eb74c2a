/** Loaded when somebody asks for it. */
export const range = 'About twenty nautical miles, on a clear night.'
