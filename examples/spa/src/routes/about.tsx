import env from 'virtual:serve-dist/env'

import { Page } from '../page.tsx'
import './about.css'

export function Component() {
  return (
    <Page route="about" title="About this guide">
      <div className="prose">
        <p>
          Hedgerow is an example app of serve-dist. It is built by Vite, compressed once at build time, and
          served from memory: whichever page you opened first, its script, its style and its data came over
          the wire as small as they can be made.
        </p>
        <p>
          Each page is a chunk of its own and so is its style, so that moving about the guide asks the server
          for many small files. React and the router are in a chunk that stays in the cache when the guide
          itself changes.
        </p>
        <h2>On the names</h2>
        <p>
          Addresses join genus and epithet by a dot, as in <code>/species/bellis.perennis</code>. That dot is
          no file extension, and a server must not take it for one.
        </p>
        <h2>On this copy</h2>
        <p>
          The server that sends this page read these values when it started. The build is the same for all.
        </p>
        <dl className="facts">
          <dt>Stage</dt>
          <dd>{env.STAGE}</dd>
          <dt>Release</dt>
          <dd>{env.RELEASE}</dd>
          <dt>Species from</dt>
          <dd>{env.API_URL ?? 'the build itself'}</dd>
          <dt>Results of a search</dt>
          <dd>{env.LIMIT} at most</dd>
        </dl>
      </div>
    </Page>
  )
}
