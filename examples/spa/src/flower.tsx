import type { Species } from './species.ts'

/** A drawing of a species: petals around a disc. */
export function Flower({ petals, colour }: Pick<Species, 'petals' | 'colour'>) {
  const width = Math.min(11, 50 / petals)
  return (
    <svg className="flower" viewBox="-32 -32 64 64" aria-hidden="true">
      <g fill={colour} stroke="#0003" strokeWidth="0.7">
        {Array.from({ length: petals }, (_, i) => (
          <ellipse key={i} cy="-17" rx={width} ry="13" transform={`rotate(${(360 / petals) * i})`} />
        ))}
      </g>
      <circle r={petals > 8 ? 8 : 5} fill="#e8a92c" stroke="#0003" strokeWidth="0.7" />
    </svg>
  )
}
