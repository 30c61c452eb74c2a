const show = (id, text) => {
  document.querySelector(id).textContent = text
}

const radio = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/radio`)
radio.addEventListener('open', () => radio.send('Hello, keeper.'))
radio.addEventListener('message', ({ data }) => show('#radio', data))

new EventSource('/api/flashes').addEventListener('message', ({ data }) => {
  const line = document.createElement('li')
  line.textContent = data
  document.querySelector('#flashes').append(line)
})

const response = await fetch('/api/lighthouse')
const { name, height } = await response.json()
show('#lighthouse', [name, height].join(', '))
