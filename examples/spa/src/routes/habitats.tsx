import { Link, useLoaderData } from 'react-router'

import { Explained } from '../glossary.tsx'
import { Page } from '../page.tsx'
import { habitats, loadSpecies } from '../species.ts'
import './habitats.css'

export const loader = loadSpecies

const descriptions = {
  meadow: 'Grass that is mown or grazed once a year and never fed.',
  hedgerow: 'The long thin wood between two fields, with a bank and a ditch.',
  woodland: 'Flowers in a hurry, done before the leaves close overhead.',
  waterside: 'Ditches, fens and the edges of slow streams.',
}

export function Component() {
  const species = useLoaderData<typeof loader>()
  return (
    <Page route="habitats" title="Habitats" lead="The place tells you half of the name.">
      <div className="habitats">
        {habitats.map((habitat) => (
          <section key={habitat} className={habitat}>
            <h2>{habitat}</h2>
            <p>
              <Explained text={descriptions[habitat]} />
            </p>
            <ul>
              {species
                .filter((one) => one.habitat === habitat)
                .map(({ id, name }) => (
                  <li key={id}>
                    <Link to={`/species/${id}`}>{name}</Link>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </div>
    </Page>
  )
}
