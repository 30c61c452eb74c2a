export const prerender = 'auto'
