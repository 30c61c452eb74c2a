import { homedir } from 'node:os'
import { bunRoutes, configuredPeer, nodePeer, serveDist } from './find-server.ts'
import { vinext } from './vinext.ts'
import type { ServerDefinition } from './server-definition.ts'

/** All servers, in the order of the tables. */
export const servers: readonly ServerDefinition[] = [
  nodePeer('floor'),
  serveDist('serve-dist', []),
  serveDist('serve-dist-native', ['--engine', 'native']),
  serveDist('serve-dist-node', ['--engine', 'node']),
  nodePeer('sirv', 'sirv'),
  nodePeer('polka-sirv', 'polka'),
  nodePeer('express', 'express'),
  nodePeer('express-static-gzip', 'express-static-gzip'),
  nodePeer('fastify', '@fastify/static'),
  nodePeer('hono', '@hono/node-server'),
  vinext,
  bunRoutes,
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
    commands: ['static-web-server', `${homedir()}/.cargo/bin/static-web-server`],
    versionArgument: '--version',
    configuration: 'sws.toml',
    arguments: ['--config-file', '__configuration__', '--port', '__port__'],
    install: 'cargo install --locked static-web-server@2.44.1',
  }),
]
