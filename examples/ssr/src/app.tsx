import { Suspense, use, useState } from 'react'
import type { Forecast } from './forecast.ts'

export interface AppProps {
  readonly styles: readonly string[]
  readonly forecast: Promise<Forecast>
}

/** The whole document: React streams it from the server and hydrates it in the browser. */
export function App({ styles, forecast }: AppProps) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Weathervane</title>
        <link rel="icon" href="/icon.svg" />
        {styles.map((href) => (
          <link key={href} rel="stylesheet" href={href} precedence="default" />
        ))}
      </head>
      <body>
        <h1>Weathervane</h1>
        <Counter />
        <Suspense fallback={<p>Asking the stations…</p>}>
          <Outlook forecast={forecast} />
        </Suspense>
      </body>
    </html>
  )
}

function Outlook({ forecast }: Pick<AppProps, 'forecast'>) {
  const { place, degrees } = use(forecast)
  return (
    <p>
      {place}: {degrees} degrees
    </p>
  )
}

function Counter() {
  const [count, setCount] = useState(0)
  return (
    <button type="button" onClick={() => setCount(count + 1)}>
      Looked out of the window: {count}
    </button>
  )
}
