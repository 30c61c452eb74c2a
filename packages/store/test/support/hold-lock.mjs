// node hold-lock.mjs <folder>: takes the lock, prints a line and holds the lock until the process is killed.
import { lockFolder } from '../../dist/folder/lock-folder.js'

await lockFolder(process.argv[2] ?? '', async () => {
  console.log('held')
  await new Promise((resolve) => setTimeout(resolve, 60_000))
})
