import { StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './style.css'

declare global {
  interface Window {
    readonly styles: readonly string[]
  }
}

const forecast = fetch('/api/forecast').then((response) => response.json())

hydrateRoot(
  document,
  <StrictMode>
    <App styles={window.styles} forecast={forecast} />
  </StrictMode>,
)
