// Express 4 under an alias. The types of version 5 fit the tests.
declare module 'express4' {
  export { default } from 'express'
}
