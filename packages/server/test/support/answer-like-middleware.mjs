import process from 'node:process'
import { createFetchHandler } from '../../dist/hosts/fetch.js'
import { loadSite } from '../../dist/index.js'

// For programs that are started as `program <directory> <memory budget>`.
const [directory = '', memoryBudget = ''] = process.argv.slice(2)
const answer = createFetchHandler(await loadSite(directory, { memoryBudget: Number(memoryBudget) }))

/**
 * Answers with the build, and else with the status and the body by which what stands behind is known.
 *
 * @param {Request} request
 * @returns {Promise<Response>}
 */
export async function answerLikeMiddleware(request) {
  const { pathname, search } = new URL(request.url)
  return (await answer(request)) ?? new Response(`${request.method} ${pathname}${search}`, { status: 299 })
}
