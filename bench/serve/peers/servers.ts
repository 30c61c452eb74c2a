import { homedir } from 'node:os'
import { join } from 'node:path'
import { configuredPeer } from './configured-peer.ts'
import { nodePeer } from './node-peer.ts'
import { runtimePeer } from './runtime-peer.ts'
import { serveDist, serveDistSmallest } from './serve-dist.ts'
import type { ServerDefinition } from './server-definition.ts'
import { sveltekit } from './sveltekit.ts'
import { vinext } from './vinext.ts'

/** Every server that is known, in the order of the tables. */
export const servers: readonly ServerDefinition[] = [
  nodePeer({ name: 'floor' }),
  serveDist,
  serveDistSmallest,
  nodePeer({ name: 'sirv', packageName: 'sirv' }),
  nodePeer({ name: 'polka-sirv', packageName: 'polka' }),
  nodePeer({ name: 'express', packageName: 'express' }),
  nodePeer({ name: 'express-static-gzip', packageName: 'express-static-gzip' }),
  nodePeer({ name: 'fastify', packageName: '@fastify/static' }),
  nodePeer({ name: 'send', packageName: 'send' }),
  nodePeer({ name: 'hono', packageName: '@hono/node-server' }),
  nodePeer({ name: 'srvx', packageName: 'srvx' }),
  nodePeer({ name: 'h3', packageName: 'h3' }),
  nodePeer({ name: 'serve-handler', packageName: 'serve-handler' }),
  vinext,
  sveltekit,
  runtimePeer({ name: 'bun-routes', command: 'bun', arguments: ['run'] }),
  runtimePeer({ name: 'bun-directory', command: 'bun', arguments: ['run'] }),
  runtimePeer({
    name: 'deno-memory',
    command: 'deno',
    arguments: ['run', '--allow-all', '--no-lock', '--node-modules-dir=manual'],
  }),
  configuredPeer({
    name: 'nginx',
    commands: ['nginx', '/usr/sbin/nginx'],
    versionArguments: ['-v'],
    configuration: 'nginx.conf',
    arguments: ['-p', '__scratch__', '-e', '__scratch__/error.log', '-c', '__configuration__'],
    install: 'apt-get install nginx libnginx-mod-http-brotli-static',
  }),
  configuredPeer({
    name: 'apache',
    commands: ['apache2', '/usr/sbin/apache2'],
    versionArguments: ['-v'],
    configuration: 'httpd.conf',
    arguments: ['-D', 'FOREGROUND', '-f', '__configuration__'],
    install: 'apt-get install apache2',
  }),
  configuredPeer({
    name: 'lighttpd',
    commands: ['lighttpd', '/usr/sbin/lighttpd'],
    versionArguments: ['-v'],
    configuration: 'lighttpd.conf',
    arguments: ['-D', '-f', '__configuration__'],
    install: 'apt-get install lighttpd lighttpd-mod-deflate',
  }),
  configuredPeer({
    name: 'h2o',
    commands: ['h2o'],
    versionArguments: ['--version'],
    configuration: 'h2o.yaml',
    arguments: ['-c', '__configuration__'],
    install: 'apt-get install h2o',
  }),
  configuredPeer({
    name: 'caddy',
    commands: ['caddy'],
    versionArguments: ['version'],
    configuration: 'Caddyfile',
    arguments: ['run', '--adapter', 'caddyfile', '--config', '__configuration__'],
    install: 'apt-get install caddy',
  }),
  configuredPeer({
    name: 'static-web-server',
    commands: ['static-web-server', join(homedir(), '.cargo/bin/static-web-server')],
    versionArguments: ['--version'],
    configuration: 'sws.toml',
    arguments: ['--config-file', '__configuration__', '--port', '__port__'],
    install: 'cargo install static-web-server',
  }),
]
