// Preloaded with `node --expose-gc --import`. At SIGUSR2, it collects garbage and prints the use of memory
// and descriptors, without a socket or a descriptor of its own.

process.on('SIGUSR2', () => {
  void report()
})

async function report() {
  for (let round = 0; round < 4; round += 1) {
    await globalThis.gc?.({ execution: 'async', type: 'major' })
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
  process.stdout.write(`probe ${JSON.stringify({ heap: heapUsed + external, rss, sockets })}\n`)
}
