/** What an application imports. */
export const environmentImport = 'virtual:serve-dist/env'

/** What chunks import while they are put together, until each gets the real URL; no other text has it. */
export const environmentToken = 'virtual:serve-dist/env?url-for-this-chunk'
