// An application that renders for 200 of every 400 milliseconds, as far as its thread can tell.
export { default } from './light-application.ts'

setInterval(() => {
  const end = performance.now() + 200
  while (performance.now() < end);
}, 400).unref()
