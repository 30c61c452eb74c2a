import process from 'node:process'
import { createFetchHandler } from '../../dist/hosts/fetch.js'
import { loadSite } from '../../dist/index.js'

// For programs that run as `program <directory> <memory budget>`.
const [directory = '', memoryBudget = ''] = process.argv.slice(2)
const answer = createFetchHandler(await loadSite(directory, { memoryBudget: Number(memoryBudget) }))

/**
 * Answers from the build. For other requests, answers with the status and body of the passed-on handler.
 *
 * @param {Request} request
 * @returns {Promise<Response>}
 */
export async function answerLikeMiddleware(request) {
  const { pathname, search } = new URL(request.url)
  return (await answer(request)) ?? new Response(`${request.method} ${pathname}${search}`, { status: 299 })
}
