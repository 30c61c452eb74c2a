import { Link, useLoaderData } from 'react-router'
import { lighthouses } from '../lighthouses.js'

export const meta = () => [{ title: 'From west to east' }]

export const loader = () => ({ lighthouses })

export default function Lighthouses() {
  const { lighthouses: all } = useLoaderData()
  return (
    <main>
      <h1>From west to east</h1>
      <ul>
        {all.map(({ name, title, height }) => (
          <li key={name}>
            <Link to={`/lighthouses/${name}`}>{title}</Link>, {height} m
          </li>
        ))}
      </ul>
    </main>
  )
}
