import env from 'virtual:serve-dist/env'
import { loadSpecies, type Species } from './species.ts'

/** The worker's answer to a query. */
export interface Found {
  /** At most `LIMIT` results. */
  species: Species[]
  /** The number of all results. */
  total: number
}

/** Searches the whole text of the guide in a worker, so that typing never waits for it. */
addEventListener('message', async ({ data }: MessageEvent<string>) => {
  const words = data.toLowerCase().split(/\s+/)
  const species = await loadSpecies()
  const found = species.filter((one) => {
    const text = Object.values(one).join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const answer: Found = { species: found.slice(0, env.LIMIT), total: found.length }
  postMessage(answer)
})
