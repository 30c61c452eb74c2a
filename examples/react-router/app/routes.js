import { index, route } from '@react-router/dev/routes'

export default [
  index('routes/home.jsx'),
  route('lighthouses', 'routes/lighthouses.jsx'),
  route('lighthouses/:name', 'routes/lighthouse.jsx'),
  route('about', 'routes/about.jsx'),
]
