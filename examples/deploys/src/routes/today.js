import { release } from '../release.js'

export const render = () => `<h1>Today, release ${release}</h1><p>Rye, spelt and plum cake.</p>`
