import { Link, Links, Meta, Outlet, Scripts, ScrollRestoration } from 'react-router'
import './app.css'

export function Layout({ children }) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href="/icon.svg" />
        <Meta />
        <Links />
      </head>
      <body>
        <nav>
          <Link to="/">Home</Link>
          <Link to="/lighthouses">Lighthouses</Link>
          <Link to="/lighthouses/fastnet">Fastnet</Link>
          <Link to="/about">About</Link>
        </nav>
        {children}
        <ScrollRestoration />
        <Scripts />
      </body>
    </html>
  )
}

export default function Root() {
  return <Outlet />
}

export function ErrorBoundary({ error }) {
  return <h1>{error.status === 404 ? 'No such page' : 'Something went wrong'}</h1>
}

export function HydrateFallback() {
  return <p>Loading …</p>
}
