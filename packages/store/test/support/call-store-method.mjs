// node call-store-method.mjs <folder> <verb>: calls the method for blobs/x and prints the result.
import { openStore } from '@serve-dist/store'

const [folder = '', verb] = process.argv.slice(2)
const store = await openStore(folder)
try {
  if (verb === 'read') {
    const object = await store.read('blobs/x')
    console.log(object === undefined || object === 'unchanged' ? object : object.size)
  } else if (verb === 'list') for await (const { key } of store.list('blobs/')) console.log(key)
  else if (verb === 'put') console.log(await store.put('blobs/x', Buffer.from('y')))
  else console.log(await store.delete('blobs/x'))
} catch (error) {
  if (!(error instanceof Error && 'code' in error)) throw error
  console.log(error.code, error.message)
}
