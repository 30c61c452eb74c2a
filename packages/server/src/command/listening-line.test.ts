import { expect, test } from 'vitest'
import { allAddressesLine } from './listening-line.ts'

const address = {
  address: '255.255.255.255',
  netmask: '255.255.255.0',
  mac: '00:00:00:00:00:00',
  cidr: null,
  internal: false,
  family: 'IPv4',
} as const

test('has the first external IPv4 address, in 80 columns', () => {
  const loopback = { ...address, address: '127.0.0.1', internal: true }
  const line = allAddressesLine('https://localhost:65535/', {
    lo: [loopback],
    eth0: [address],
    eth1: [address],
  })
  expect(line).toBe('listening on all addresses, for other machines · https://255.255.255.255:65535/')
  expect(line.length).toBeLessThanOrEqual(80)
})

test('has no URL if there is no external IPv4 address', () => {
  const last = { ...address, family: 'IPv6', address: 'fd00::2', scopeid: 0 } as const
  expect(allAddressesLine('http://localhost:4173/', { eth0: [last] })).toBe('listening on all addresses')
})
