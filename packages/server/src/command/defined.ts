/** Fields that may be `undefined` may be left out, instead. */
type Defined<Values> = {
  [Name in keyof Values as undefined extends Values[Name] ? never : Name]: Values[Name]
} & {
  [Name in keyof Values as undefined extends Values[Name] ? Name : never]?: Exclude<Values[Name], undefined>
}

export function defined<Values extends object>(values: Values): Defined<Values>
export function defined(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
