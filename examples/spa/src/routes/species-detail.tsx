import { Link, useLoaderData, type LoaderFunctionArgs } from 'react-router'

import { Flower } from '../flower.tsx'
import { Explained } from '../glossary.tsx'
import { Page } from '../page.tsx'
import { loadSpecies, monthName } from '../species.ts'
import './species-detail.css'

export async function loader({ params }: LoaderFunctionArgs) {
  const species = await loadSpecies()
  return { id: params.id, species: species.find(({ id }) => id === params.id) }
}

export function Component() {
  const { id, species } = useLoaderData<typeof loader>()
  if (!species) {
    return (
      <Page route="species-detail" title={`${id} is not in this guide`}>
        <p>
          Look for it among <Link to="/species">all species</Link>.
        </p>
      </Page>
    )
  }
  return (
    <Page route="species-detail" title={species.name} lead={<em>{species.latin}</em>}>
      <div className="sheet">
        <Flower {...species} />
        <div>
          <p>
            <Explained text={species.note} />
          </p>
          <dl className="facts">
            <dt>Family</dt>
            <dd>{species.family}</dd>
            <dt>In flower</dt>
            <dd>{species.months.map((month) => monthName(month)).join(' to ')}</dd>
            <dt>Height</dt>
            <dd>{species.heightCm.join(' to ')} cm</dd>
            <dt>Habitat</dt>
            <dd>{species.habitat}</dd>
          </dl>
        </div>
      </div>
    </Page>
  )
}
