import { useEffect, useState } from 'react'
import { Link, useLoaderData } from 'react-router'

import { Flower } from '../flower.tsx'
import { Page } from '../page.tsx'
import type { Found } from '../search.worker.ts'
import { loadSpecies } from '../species.ts'
import './species.css'

export const loader = loadSpecies

const worker = new Worker(new URL('../search.worker.ts', import.meta.url), { type: 'module' })

export function Component() {
  const species = useLoaderData<typeof loader>()
  const [query, setQuery] = useState('')
  const [found, setFound] = useState<Found>()
  useEffect(() => {
    const take = ({ data }: MessageEvent<Found>) => setFound(data)
    worker.addEventListener('message', take)
    return () => worker.removeEventListener('message', take)
  }, [])
  const shown = query === '' || !found ? { species, total: species.length } : found
  return (
    <Page route="species" title="Species">
      <input
        className="search"
        type="search"
        placeholder="Name, family or any word"
        aria-label="Name, family or any word"
        value={query}
        onChange={({ target }) => {
          setQuery(target.value)
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker takes none
          worker.postMessage(target.value)
        }}
      />
      <p className="count" role="status">
        {shown.total === 0 && 'No flower of this guide fits.'}
        {shown.total > shown.species.length && `${shown.species.length} of ${shown.total} flowers`}
      </p>
      <ul className="catalogue">
        {shown.species.map((one) => (
          <li key={one.id}>
            <Link to={`/species/${one.id}`}>
              <Flower {...one} />
              <strong>{one.name}</strong>
              <em className="latin">{one.latin}</em>
            </Link>
          </li>
        ))}
      </ul>
    </Page>
  )
}
