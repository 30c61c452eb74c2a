import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * @typedef {object} StartedServer
 * @property {string} url Where it says that it listens.
 * @property {string} output What it has said so far; grows.
 * @property {number} pid Of the process that was started.
 * @property {Promise<number | string>} ended With its exit code, or the signal that ended it.
 */

/**
 * Starts the command `serve-dist`, however it is wrapped, and waits until it says where it listens.
 *
 * @param {[string, ...string[]]} command
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, uid?: number, gid?: number }} [place]
 * @returns {Promise<StartedServer>}
 * @throws Error with what it said, when it ends before.
 */
export async function startServer([file, ...args], place = {}) {
  const child = spawn(file, args, { ...place, stdio: ['ignore', 'pipe', 'pipe'] })
  process.once('exit', () => child.kill('SIGKILL'))
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal)
  const server = { url: '', output: '', pid: child.pid ?? 0, ended }
  await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        server.output += text
        const url = /(?:https?:\/\/\S+)/.exec(server.output)?.[0]
        if (url === undefined || server.url !== '') return
        server.url = url
        resolve(undefined)
      })
    }
    child.once('error', reject)
    void ended.then((code) => reject(new Error(`${file} ended with ${code}:\n${server.output}`)))
  })
  return server
}
