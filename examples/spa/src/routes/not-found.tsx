import { Link } from 'react-router'

import { Page } from '../page.tsx'
import './not-found.css'

export function Component() {
  return (
    <Page route="not-found" title="Not found" lead="Nothing grows at this address.">
      <Link to="/">Back to the meadow</Link>
    </Page>
  )
}
