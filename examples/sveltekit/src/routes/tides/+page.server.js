// With adapter-node, the page is rendered for each request.
export const prerender = import.meta.env.MODE !== 'server'

export const load = () => ({
  tides: [
    { time: '04:12', metres: 3.4 },
    { time: '10:31', metres: 0.7 },
    { time: '16:40', metres: 3.6 },
  ],
})
