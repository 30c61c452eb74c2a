import { homedir } from 'node:os'
import { join } from 'node:path'
import { bunRoutes, configuredPeer, nodePeer, serveDist } from './find-server.ts'
import { vinext } from './vinext.ts'
import type { ServerDefinition } from './server-definition.ts'

const nginx = {
  versionArgument: '-v',
  configuration: 'nginx.conf',
  arguments: ['-p', '__scratch__', '-e', '__scratch__/error.log', '-c', '__configuration__'],
}
const nginxTls = `ssl_certificate __certificate__;
  ssl_certificate_key __key__;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_cache shared:tls:10m;
  ssl_session_timeout 1d;
  ssl_session_tickets on;`
const builtNginx = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'serve-dist-bench/nginx-newest',
)

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
    ...nginx,
    name: 'nginx',
    commands: ['nginx', '/usr/sbin/nginx'],
    tls: { listening: ' ssl http2', tls: nginxTls },
    arguments: [
      ...nginx.arguments,
      '-g',
      'load_module /usr/lib/nginx/modules/ngx_http_brotli_static_module.so;',
    ],
    install: 'apt-get install nginx libnginx-mod-http-brotli-static',
  }),
  configuredPeer({
    ...nginx,
    name: 'nginx-newest',
    commands: [builtNginx],
    tls: { listening: ' ssl', tls: `http2 on;\n  ${nginxTls}` },
    install: 'sh bench/serve/peers/build-newest-nginx.sh',
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
