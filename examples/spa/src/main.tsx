import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter } from 'react-router'
import { RouterProvider } from 'react-router/dom'

import { Layout } from './layout.tsx'
import './main.css'

const router = createBrowserRouter(
  [
    {
      Component: Layout,
      HydrateFallback: () => null,
      children: [
        { index: true, lazy: () => import('./routes/home.tsx') },
        { path: 'species', lazy: () => import('./routes/species.tsx') },
        { path: 'species/:id', lazy: () => import('./routes/species-detail.tsx') },
        { path: 'habitats', lazy: () => import('./routes/habitats.tsx') },
        { path: 'calendar', lazy: () => import('./routes/calendar.tsx') },
        { path: 'ferns', lazy: () => import('./routes/ferns.tsx') },
        { path: 'downloads', lazy: () => import('./routes/downloads.tsx') },
        { path: 'about', lazy: () => import('./routes/about.tsx') },
        { path: '*', lazy: () => import('./routes/not-found.tsx') },
      ],
    },
  ],
  { basename: import.meta.env.BASE_URL },
)

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')

createRoot(root).render(
  <StrictMode>
    <RouterProvider router={router} />
  </StrictMode>,
)
