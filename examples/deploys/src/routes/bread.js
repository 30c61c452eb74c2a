import { release } from '../release.js'
import './bread.css'

const loaves = ['rye', 'spelt', 'walnut', 'potato', 'sourdough with caraway']

export const render = () =>
  `<h1>Bread of release ${release}</h1><ul>${loaves.map((loaf) => `<li>${loaf}</li>`).join('')}</ul>`
