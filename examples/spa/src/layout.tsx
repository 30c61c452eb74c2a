import { NavLink, Outlet, ScrollRestoration } from 'react-router'

const links = [
  ['/species', 'Species'],
  ['/habitats', 'Habitats'],
  ['/calendar', 'Calendar'],
  ['/ferns', 'Ferns'],
  ['/downloads', 'Downloads'],
  ['/about', 'About'],
] as const

export function Layout() {
  return (
    <>
      <nav className="bar">
        <NavLink className="brand" to="/">
          Hedgerow
        </NavLink>
        {links.map(([to, text]) => (
          <NavLink key={to} to={to}>
            {text}
          </NavLink>
        ))}
      </nav>
      <Outlet />
      <ScrollRestoration />
    </>
  )
}
