import { Link, useLoaderData } from 'react-router'

import { Explained } from '../glossary.tsx'
import { Page } from '../page.tsx'
import { loadSpecies, monthName } from '../species.ts'
import './calendar.css'

export const loader = loadSpecies

const months = Array.from({ length: 12 }, (_, i) => i + 1)

export function Component() {
  const species = useLoaderData<typeof loader>().toSorted((a, b) => a.months[0] - b.months[0])
  return (
    <Page
      route="calendar"
      title="Calendar"
      lead={<Explained text="The year in flower, from the first celandine on." />}
    >
      <div className="scroll">
        <table className="calendar">
          <thead>
            <tr>
              <th scope="col">Species</th>
              {months.map((month) => (
                <th key={month} scope="col" aria-label={monthName(month)}>
                  {monthName(month, 'short').charAt(0)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {species.map(({ id, name, colour, months: [first, last] }) => (
              <tr key={id}>
                <th scope="row">
                  <Link to={`/species/${id}`}>{name}</Link>
                </th>
                {months.map((month) => {
                  const flowers = first <= month && month <= last
                  return flowers ? <td key={month} style={{ background: colour }} /> : <td key={month} />
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Page>
  )
}
