import { release } from '../release.js'

export const render = () => `<h1>Cakes of release ${release}</h1><p>Plum cake, while the plums last.</p>`
