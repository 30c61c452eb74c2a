import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { benchDirectory, cacheDirectory } from '../serve/bench-directory.ts'
import { runProcess } from '../serve/run-process.ts'
import { type Contender, contenders } from './contender.ts'

/** Ours as it was at a git ref, built in a worktree of its own that is kept between runs. */
export async function checkoutBefore(ref: string): Promise<Contender> {
  const cwd = benchDirectory
  const commit = (await runProcess('git', ['rev-parse', '--verify', `${ref}^{commit}`], { cwd })).trim()
  const worktree = join(cacheDirectory, 'before', commit)
  const plugin = join(worktree, 'packages/vite/dist/index.js')
  const isBuilt = await access(plugin).then(
    () => true,
    () => false,
  )
  if (!isBuilt) {
    await rm(worktree, { recursive: true, force: true })
    await runProcess('git', ['worktree', 'prune'], { cwd })
    await runProcess('git', ['worktree', 'add', '--force', '--detach', worktree, commit], { cwd })
    // Set by the package manager that runs this script.
    const pnpm = process.env['npm_execpath']
    const install = ['install', '--no-frozen-lockfile', '--prefer-offline']
    await (pnpm?.endsWith('js') === true
      ? runProcess(process.execPath, [pnpm, ...install], { cwd: worktree })
      : runProcess(pnpm ?? 'pnpm', install, { cwd: worktree }))
    await runProcess(join(worktree, 'node_modules/.bin/tsc'), ['-b', 'packages/vite'], { cwd: worktree })
  }
  const ours = contenders.find(({ name }) => name === 'serve-dist')
  return {
    extensions: [],
    ...ours,
    fillsCache: false,
    name: 'serve-dist-before',
    from: pathToFileURL(plugin).href,
  }
}
