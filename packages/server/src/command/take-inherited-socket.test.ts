import { OperatorError } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { takeInheritedSocket } from './take-inherited-socket.ts'

describe('takeInheritedSocket', () => {
  test('takes the third descriptor, and unsets the variables', () => {
    const environment = { LISTEN_PID: '7', LISTEN_FDS: '1', LISTEN_FDNAMES: 'http', PATH: '/bin' }
    expect(takeInheritedSocket(environment, 7)).toBe(3)
    expect(environment).toEqual({ PATH: '/bin' })
  })

  test.each([
    ['nobody handed one over', {}],
    ['it was meant for another process', { LISTEN_PID: '8', LISTEN_FDS: '1' }],
    ['no process is named', { LISTEN_FDS: '1' }],
    ['there are none', { LISTEN_PID: '7', LISTEN_FDS: '0' }],
    ['nobody says how many', { LISTEN_PID: '7' }],
  ])('is nothing when %s', (_what, environment: NodeJS.ProcessEnv) => {
    expect(takeInheritedSocket(environment, 7)).toBeUndefined()
  })

  test.each(['2', 'many'])('refuses %s sockets', (count) => {
    expect(() => takeInheritedSocket({ LISTEN_PID: '7', LISTEN_FDS: count }, 7)).toThrow(OperatorError)
  })
})
