import { cargoInstall, cargoProgram } from '../cargo-program.ts'
import {
  configuredPeer,
  nodePeer,
  runtimePeer,
  serveDist,
  serveDistByRules,
  serveDistFromStore,
} from './find-server.ts'
import { sveltekit, vinext } from './frameworks.ts'
import type { ServerDefinition } from './server-definition.ts'

/** Every server that is known, in the order of the tables. */
export const servers: readonly ServerDefinition[] = [
  nodePeer('floor'),
  serveDist('serve-dist', []),
  serveDist('serve-dist-native', ['--engine', 'native']),
  serveDist('serve-dist-node', ['--engine', 'node']),
  serveDistByRules('serve-dist-smallest', { prefer: 'smallest' }),
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
    tls: {
      listening: ' ssl http2',
      tls: `ssl_certificate __certificate__;
  ssl_certificate_key __key__;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_cache shared:tls:10m;
  ssl_session_timeout 1d;
  ssl_session_tickets on;`,
    },
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
    tls: { tls: '\n  ssl:\n    certificate-file: __certificate__\n    key-file: __key__' },
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
    commands: [cargoProgram('static-web-server'), 'static-web-server'],
    versionArgument: '--version',
    configuration: 'sws.toml',
    arguments: ['--config-file', '__configuration__', '--port', '__port__'],
    install: cargoInstall('static-web-server'),
  }),
]
