import { Page } from '../page.tsx'
import { publicFile } from '../public-file.ts'
import './downloads.css'

const files = [
  ['downloads/data.csv', 'Every species as a table'],
  ['downloads/data.csv.gz', 'The same table, packed'],
  ['data/species.json', 'Every species with its description'],
  ['files/hello world.json', 'Days from sowing to the first leaf'],
  ['files/Ünïcode näme.txt', 'The daisy in other tongues'],
  ['files/a+b.txt', 'Crosses and their parents'],
  ['files/100%.txt', 'Who needs how much light'],
  ['files/[brackets].txt', 'A key to the yellow flowers'],
  ['COLOPHON', 'How this guide was made'],
] as const

export function Component() {
  return (
    <Page route="downloads" title="Downloads" lead="Free to take along, and to pass on.">
      <ul className="downloads">
        {files.map(([path, description]) => (
          <li key={path}>
            <a href={publicFile(path)}>{path.slice(path.lastIndexOf('/') + 1)}</a>
            <span>{description}</span>
          </li>
        ))}
      </ul>
    </Page>
  )
}
