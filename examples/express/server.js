import { createHandler, loadSite } from '@serve-dist/server'
import express from 'express'

const app = express()
app.use(createHandler(await loadSite('dist')))
app.get('/api/time', (_request, response) => {
  response.json({ time: Date.now() })
})
const server = app.listen(process.env.PORT ?? 4173, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`)
})
