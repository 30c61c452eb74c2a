import env from 'virtual:serve-dist/env'
import { loadSpecies, type Species } from './species.ts'

/** What the worker answers to a query. */
export interface Found {
  /** `LIMIT` at most. */
  species: Species[]
  /** How many there are in all. */
  total: number
}

/** Searches the whole text of the guide beside the page, so that typing never waits for it. */
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
