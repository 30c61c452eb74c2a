import { homedir } from 'node:os'
import { join } from 'node:path'
import { configuredPeer, nodePeer, runtimePeer, serveDist, serveDistFromStore } from './find-server.ts'
import { sveltekit, vinext } from './frameworks.ts'
import type { ServerDefinition } from './server-definition.ts'

/** Every server that is known, in the order of the tables. */
export const servers: readonly ServerDefinition[] = [
  nodePeer('floor'),
  serveDist('serve-dist', []),
  serveDist('serve-dist-smallest', ['--prefer', 'smallest']),
  serveDistFromStore('serve-dist-store', 'current'),
  serveDistFromStore('serve-dist-kept', 'kept'),
  nodePeer('sirv', 'sirv'),
  nodePeer('polka-sirv', 'polka'),
  nodePeer('express', 'express'),
  nodePeer('express-static-gzip', 'express-static-gzip'),
  nodePeer('fastify', '@fastify/static'),
  nodePeer('send', 'send'),
  nodePeer('hono', '@hono/node-server'),
  nodePeer('srvx', 'srvx'),
  nodePeer('h3', 'h3'),
  nodePeer('serve-handler', 'serve-handler'),
  vinext,
  sveltekit,
  runtimePeer('bun-routes', 'bun', ['run']),
  runtimePeer('bun-directory', 'bun', ['run']),
  runtimePeer('deno-memory', 'deno', ['run', '--allow-all', '--no-lock', '--node-modules-dir=manual']),
  configuredPeer({
    name: 'nginx',
    commands: ['nginx', '/usr/sbin/nginx'],
    versionArgument: '-v',
    configuration: 'nginx.conf',
    arguments: ['-p', '__scratch__', '-e', '__scratch__/error.log', '-c', '__configuration__'],
    install: 'apt-get install nginx libnginx-mod-http-brotli-static',
  }),
  configuredPeer({
    name: 'apache',
    commands: ['apache2', '/usr/sbin/apache2'],
    versionArgument: '-v',
    configuration: 'httpd.conf',
    arguments: ['-D', 'FOREGROUND', '-f', '__configuration__'],
    install: 'apt-get install apache2',
  }),
  configuredPeer({
    name: 'lighttpd',
    commands: ['lighttpd', '/usr/sbin/lighttpd'],
    versionArgument: '-v',
    configuration: 'lighttpd.conf',
    arguments: ['-D', '-f', '__configuration__'],
    install: 'apt-get install lighttpd lighttpd-mod-deflate',
  }),
  configuredPeer({
    name: 'h2o',
    commands: ['h2o'],
    versionArgument: '--version',
    configuration: 'h2o.yaml',
    arguments: ['-c', '__configuration__'],
    install: 'apt-get install h2o',
  }),
  configuredPeer({
    name: 'caddy',
    commands: ['caddy'],
    versionArgument: 'version',
    configuration: 'Caddyfile',
    arguments: ['run', '--adapter', 'caddyfile', '--config', '__configuration__'],
    install: 'apt-get install caddy',
  }),
  configuredPeer({
    name: 'static-web-server',
    commands: ['static-web-server', join(homedir(), '.cargo/bin/static-web-server')],
    versionArgument: '--version',
    configuration: 'sws.toml',
    arguments: ['--config-file', '__configuration__', '--port', '__port__'],
    install: 'cargo install static-web-server',
  }),
]
