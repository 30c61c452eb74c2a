import { createHash } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {import('node:http').IncomingHttpHeaders} headers
 * @property {number} bytes Of the body, as it came.
 * @property {string} sha256 Of the body, as it came.
 */

/**
 * Sends a GET as it is written here, with no field that is not named but Host.
 *
 * @param {string} url
 * @param {Record<string, string>} [headers]
 * @returns {Promise<Answer>}
 */
export async function ask(url, headers = {}) {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest
  return await new Promise((resolve, reject) => {
    // The certificates of these checks are signed by nobody.
    const options = { headers, agent: false, rejectUnauthorized: false, timeout: 10_000 }
    const sent = request(url, options, (response) => {
      const hash = createHash('sha256')
      let bytes = 0
      response.on('data', (chunk) => {
        hash.update(chunk)
        bytes += chunk.length
      })
      response.once('error', reject)
      response.once('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes,
          sha256: hash.digest('hex'),
        })
      })
    })
    sent.once('timeout', () => sent.destroy(new Error(`${url}: no answer within 10 s`)))
    sent.once('error', reject).end()
  })
}
