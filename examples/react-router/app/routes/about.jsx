export const meta = () => [{ title: 'About' }]

export default function About() {
  return (
    <main>
      <h1>About</h1>
      <p>Three of the lighthouses at the western end of the Channel.</p>
    </main>
  )
}
