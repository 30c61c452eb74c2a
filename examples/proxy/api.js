import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'

const answers = {
  '/api/lighthouse': (response) => {
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ name: 'North Pier', height: '21 m' }))
  },
  '/api/flashes': (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    let count = 0
    const flash = () => response.write(`data: flash ${(count += 1)}\n\n`)
    flash()
    const timer = setInterval(flash, 500)
    response.on('close', () => clearInterval(timer))
  },
}

const server = createServer(({ url }, response) => {
  const answer = answers[url]
  if (answer) answer(response)
  else response.writeHead(404).end()
})
new WebSocketServer({ server, path: '/api/radio' }).on('connection', (socket) => {
  socket.on('message', (message) => socket.send(`${message} Over.`))
})
server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`)
})
