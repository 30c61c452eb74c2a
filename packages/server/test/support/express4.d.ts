// Express 4 under a name of its own; the types of 5 are right for what the tests use.
declare module 'express4' {
  export { default } from 'express'
}
