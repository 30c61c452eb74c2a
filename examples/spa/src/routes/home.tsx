import { Link } from 'react-router'

import { Page } from '../page.tsx'
import { publicFile } from '../public-file.ts'
import './home.css'

export function Component() {
  return (
    <Page
      route="home"
      title="A field guide for the pocket"
      lead="Twenty-four wild flowers of lane, meadow, wood and ditch: what they look like, when they flower, and where to look for them."
    >
      <Link className="button" to="/species">
        See the flowers
      </Link>
      <Link className="button quiet" to="/calendar">
        What flowers now?
      </Link>
      <img className="panorama" src={publicFile('meadow.svg')} alt="" width="960" height="260" />
    </Page>
  )
}
