import { OperatorError } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { takeInheritedSocket } from './take-inherited-socket.ts'

describe('takeInheritedSocket', () => {
  test('returns the descriptor 3 and deletes the variables', () => {
    const environment = { LISTEN_PID: '7', LISTEN_FDS: '1', LISTEN_FDNAMES: 'http', PATH: '/bin' }
    expect(takeInheritedSocket(environment, 7)).toBe(3)
    expect(environment).toEqual({ PATH: '/bin' })
  })

  test.each([
    ['no variable is set', {}],
    ['the socket is for another process', { LISTEN_PID: '8', LISTEN_FDS: '1' }],
    ['LISTEN_PID is missing', { LISTEN_FDS: '1' }],
    ['LISTEN_FDS is 0', { LISTEN_PID: '7', LISTEN_FDS: '0' }],
    ['LISTEN_FDS is missing', { LISTEN_PID: '7' }],
  ])('returns undefined if %s', (_what, environment: NodeJS.ProcessEnv) => {
    expect(takeInheritedSocket(environment, 7)).toBeUndefined()
  })

  test.each(['2', 'many'])('rejects %s sockets', (count) => {
    expect(() => takeInheritedSocket({ LISTEN_PID: '7', LISTEN_FDS: count }, 7)).toThrow(OperatorError)
  })
})
