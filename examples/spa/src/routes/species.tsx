import { useState } from 'react'
import { Link, useLoaderData } from 'react-router'

import { Flower } from '../flower.tsx'
import { Page } from '../page.tsx'
import { loadSpecies } from '../species.ts'
import './species.css'

export const loader = loadSpecies

export function Component() {
  const species = useLoaderData<typeof loader>()
  const [query, setQuery] = useState('')
  const wanted = query.trim().toLowerCase()
  const found = species.filter(({ name, latin, family }) =>
    `${name} ${latin} ${family}`.toLowerCase().includes(wanted),
  )
  return (
    <Page route="species" title="Species">
      <input
        className="search"
        type="search"
        placeholder="Name or family"
        aria-label="Name or family"
        value={query}
        onChange={(event) => setQuery(event.target.value)}
      />
      <ul className="catalogue">
        {found.map((one) => (
          <li key={one.id}>
            <Link to={`/species/${one.id}`}>
              <Flower {...one} />
              <strong>{one.name}</strong>
              <em className="latin">{one.latin}</em>
            </Link>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p>No flower of that name is in this guide.</p>}
    </Page>
  )
}
