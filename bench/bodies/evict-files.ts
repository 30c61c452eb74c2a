import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Lets the kernel forget the pages of every file in a folder, again and again, until it is stopped. */
export function evictFiles(directory: string, cores: string): { stop(): Promise<void> } {
  const loop =
    'while :; do for file in "$0"/*; do dd of="$file" oflag=nocache conv=notrunc,fdatasync count=0 status=none; done; done'
  const child = spawn('taskset', ['-c', cores, 'nice', 'sh', '-c', loop, directory], { stdio: 'inherit' })
  return {
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
