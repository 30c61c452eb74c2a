export const routes = [
  { path: '/', component: () => import('./pages/Home.vue') },
  { path: '/lighthouses', component: () => import('./pages/Lighthouses.vue') },
  { path: '/about', component: () => import('./pages/About.vue') },
  // Rendered as 404.html.
  { path: '/404', component: () => import('./pages/NotFound.vue') },
  { path: '/:path(.*)*', component: () => import('./pages/NotFound.vue') },
]
