const response = await fetch('/api/time')
const { time } = await response.json()
document.querySelector('p').textContent = `It is ${new Date(time).toLocaleTimeString()}.`
