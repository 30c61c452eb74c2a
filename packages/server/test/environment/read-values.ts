/** Returns the values that an application imports from the module of its environment. */
export async function readValues(text: string): Promise<unknown> {
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(text)}`)
  return Reflect.get(Object(module), 'default')
}
