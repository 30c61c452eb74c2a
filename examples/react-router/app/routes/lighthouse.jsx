import { data, useLoaderData } from 'react-router'
import { lighthouses } from '../lighthouses.js'

export const meta = ({ loaderData }) => [{ title: loaderData?.title ?? 'No such lighthouse' }]

export function loader({ params }) {
  const found = lighthouses.find(({ name }) => name === params.name)
  if (found === undefined) throw data(null, { status: 404 })
  return found
}

export default function Lighthouse() {
  const { title, height, lit } = useLoaderData()
  return (
    <main>
      <h1>{title}</h1>
      <p>
        {height} metres, lit since {lit}.
      </p>
    </main>
  )
}
