import { InvalidArgumentError } from 'commander'

/** A parser of ours as commander wants it: what it refuses is told with the option's name. */
export function commandArgument<Value>(parse: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return parse(text)
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
    }
  }
}
