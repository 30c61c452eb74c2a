import { useState } from 'react'
import lighthouse from '../lighthouse.png'

export const meta = () => [{ title: 'Lighthouses' }]

export default function Home() {
  const [range, setRange] = useState('')
  const ask = async () => setRange((await import('../range.js')).range)
  return (
    <main>
      <h1>Lighthouses</h1>
      <img src={lighthouse} alt="A lighthouse" width="128" height="128" />
      <p>
        <button id="lazy" type="button" onClick={ask}>
          How far does it reach?
        </button>{' '}
        <output>{range}</output>
      </p>
    </main>
  )
}
