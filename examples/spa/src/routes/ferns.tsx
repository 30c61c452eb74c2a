import { useEffect, useRef, useState } from 'react'
import { useLoaderData } from 'react-router'

import { Explained } from '../glossary.tsx'
import { Page } from '../page.tsx'
import { drawFern, ferns, loadFernModule, type Fern, type FernModule } from '../wasm/fern.ts'
import './ferns.css'

export const loader = loadFernModule

const hops = 200_000

export function Component() {
  const wasm: FernModule = useLoaderData()
  const canvas = useRef<HTMLCanvasElement>(null)
  const [fern, setFern] = useState<Fern>(ferns[0])
  const [visited, setVisited] = useState<number>()

  useEffect(() => {
    if (canvas.current) setVisited(drawFern(wasm, fern, { hops, canvas: canvas.current }))
  }, [wasm, fern])

  return (
    <Page
      route="ferns"
      title="Ferns"
      lead={
        <Explained text="Four maps, one point that hops by them at random, and a frond appears: computed here, by WebAssembly." />
      }
    >
      <div className="ferns">
        <canvas ref={canvas} aria-label={fern.name} role="img" />
        <div>
          {ferns.map((one) => (
            <button key={one.name} type="button" aria-pressed={one === fern} onClick={() => setFern(one)}>
              {one.name}
            </button>
          ))}
          {visited !== undefined && (
            <p data-testid="wasm-result">
              {hops} hops, {visited} pixels
            </p>
          )}
        </div>
      </div>
    </Page>
  )
}
