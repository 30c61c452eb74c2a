/** Botanical terms that the pages of the guide explain in place. */
const glossary = new Map([
  ['ancient', 'Of a wood: there without a break since 1600 at least, when maps began to show woods.'],
  ['bank', 'The raised earth under a hedge. Its sunny side is in flower weeks before the shady one.'],
  ['beaked', 'Drawn out into a point like the bill of a crane, which gave the cranesbills their name.'],
  ['bell', 'Petals that have grown together into a tube with a flared rim, as in foxglove and harebell.'],
  ['blossom', 'The flowers of a tree or shrub that opens them all at once, often ahead of its leaves.'],
  ['capsule', 'A dry fruit of several chambers that opens by pores, teeth or slits when its seeds are ripe.'],
  [
    'celandine',
    'Lesser celandine, the yellow star of February: it opens weeks before the trees have leaves.',
  ],
  ['corky', 'Light with trapped air. Corky seeds float, and travel down rivers to new banks.'],
  ['disc', 'The middle of a daisy, packed with tube-shaped flowers that open from the edge inwards.'],
  ['ditch', 'Water that stands or creeps between banks. Cut once in two or three years it has most flowers.'],
  [
    'fen',
    'Wet ground fed by springs that have passed through chalk or limestone; a bog is fed by rain alone.',
  ],
  [
    'floret',
    'One of the many small flowers that make up what looks like a single bloom of a daisy or thistle.',
  ],
  ['frond', 'The whole leaf of a fern, uncoiled from a crozier and divided once, twice or three times.'],
  ['grazed', 'Kept short by cattle or sheep, which leave the bitter and the prickly plants to flower.'],
  [
    'hedge',
    'A row of shrubs that was planted to keep cattle in; one more kind of shrub settles each century.',
  ],
  ['hip', 'The fleshy cup of a rose, ripe in September, with the true fruits among hairs inside of it.'],
  [
    'leaflet',
    'One blade of a leaf that is divided down to its rib: a clover has three of them, a vetch many.',
  ],
  ['nectar', 'Sugared water by which flowers pay insects for carrying pollen, often at the end of a spur.'],
  ['pod', 'The fruit of peas and vetches: one chamber that dries, twists and throws its seeds by the seam.'],
  ['prickle', 'An outgrowth of the skin, which snaps off cleanly. A thorn is a twig, and does not.'],
  ['rosette', 'Leaves in a ring flat on the ground, all from one point, out of reach of frost and mower.'],
  ['rye', 'The corn of poor soils, sown in autumn, along with which many weeds came from the east.'],
  ['scramble', 'To climb by leaning on others, without twining around them and without roots in them.'],
  [
    'sepal',
    'A leaf of the outer ring that wraps the bud. Green as a rule, but in some plants it plays the petal.',
  ],
  ['spike', 'A tall head of flowers that sit on the stem itself, the lowest of which open first.'],
  ['stamen', 'The male part of a flower: a thread with a sac at its tip that sheds the pollen.'],
  ['style', 'The stalk between the ovary and the stigma, down which a grain of pollen grows its tube.'],
  ['target', 'A mark that guides insects to the middle of a flower, and that our eyes may not see.'],
  ['tendril', 'A thread instead of a leaf that feels for a hold and coils around it within the hour.'],
  ['tuber', 'A swollen root or stem underground, in which a plant keeps starch for the coming spring.'],
  ['umbel', 'Flowers on stalks of much the same length from one point, like the ribs of an umbrella.'],
  ['verge', 'The strip between a road and its hedge: for many flowers all that is left of the meadows.'],
])

const words = new RegExp(String.raw`\b(${[...glossary.keys()].join('|')})(?=e?s?\b)`, 'i')

/** A text that shows the meaning of rare words when the user points at them. */
export function Explained({ text }: { text: string }) {
  return text.split(words).map((part, i) => {
    const meaning = glossary.get(part.toLowerCase())
    if (meaning === undefined) return part
    return (
      <abbr key={i} title={meaning}>
        {part}
      </abbr>
    )
  })
}
