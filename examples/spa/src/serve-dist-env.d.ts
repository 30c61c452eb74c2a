// Written by serveDist() from its option "env".
declare module 'virtual:serve-dist/env' {
  const env: {
    readonly STAGE: string
    readonly RELEASE: string
    readonly API_URL?: string
    readonly LIMIT: number
  }
  export default env
}
