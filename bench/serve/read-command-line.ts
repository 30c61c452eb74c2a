/**
 * What the command line asks for; what is wrong with it ends the program with exit code 2 and a message.
 *
 * @param read - throws a TypeError that names what is wrong.
 */
export function readCommandLine<Options>(read: (argv: string[]) => Options, usage: string): Options {
  try {
    return read(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    process.stderr.write(`${error.message}\n\n${usage}`)
    return process.exit(2)
  }
}
