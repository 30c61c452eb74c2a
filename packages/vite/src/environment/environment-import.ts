/** The name that an application imports. */
export const environmentImport = 'virtual:serve-dist/env'

/** A placeholder in chunks for the URL of the environment module. It appears in no other text. */
export const environmentToken = 'virtual:serve-dist/env?url-for-this-chunk'
