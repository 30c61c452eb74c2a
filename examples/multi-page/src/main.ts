import './main.css'
import { contents } from './contents.ts'

const headings = document.querySelectorAll<HTMLHeadingElement>('h2[id]')
if (headings.length > 1) document.querySelector('.lead')?.after(contents([...headings]))

// The end-to-end tests wait for this: the script of the page has run.
document.body.dataset.ready = 'true'
