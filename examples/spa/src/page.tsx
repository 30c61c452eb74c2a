import type { ReactNode } from 'react'

interface PageProps {
  /** Marks the page for the end-to-end tests. */
  route: string
  title: string
  lead?: ReactNode
  children?: ReactNode
}

export function Page({ route, title, lead, children }: PageProps) {
  return (
    <main data-route={route}>
      <title>{`${title} · Hedgerow`}</title>
      <h1>{title}</h1>
      {lead && <p className="lead">{lead}</p>}
      {children}
    </main>
  )
}
