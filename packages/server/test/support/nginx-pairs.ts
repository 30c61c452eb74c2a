import type { RedirectRule, ServingRules } from '@serve-dist/manifest'
import { parseProxies } from '../../src/command/flag-values.ts'

/** The addresses and files that configurations name. */
export interface Places {
  /** Host and port of the target. */
  readonly api: string
  /** The path of a unix socket with the same answers. */
  readonly socket: string
  /** Host and port that no process listens on. */
  readonly down: string
  /** A line of `htpasswd -B` for `anna` and `secret`. */
  readonly credentials: string
  /** The file with this line. */
  readonly htpasswd: string
  /** The folder of a second build. */
  readonly admin: string
}

/** Lines of a `server` block, and what docs/migrate/nginx.md says instead of them. */
export interface NginxPair {
  readonly lines: (places: Places) => string
  /** Lines of the `http` block. */
  readonly http?: (places: Places) => string
  readonly rules: (places: Places) => ServingRules
  readonly trustProxy?: string
  readonly environment?: (places: Places) => Readonly<Record<string, string>>
  readonly hasSecondBuild?: boolean
  /** `METHOD target {Name: value | Name: value} body`. */
  readonly requests: readonly string[]
  /** Requests by the row of the page that names their difference. */
  readonly differs?: Readonly<Record<string, readonly string[]>>
}

const html = '{Accept: text/html}'
const spa = 'location / { try_files $uri $uri/ /index.html; }'
const forwarded = `
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  proxy_set_header Host $http_host;
  proxy_set_header X-Real-IP $remote_addr;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Forwarded-Host $http_host;
`

/** Lines that forward what is below a location. */
function pass(location: string, to: string, more = ''): string {
  return `location ${location} { proxy_pass http://${to}; ${forwarded} ${more} }`
}

function proxy(from: string, to: string, more: Partial<RedirectRule> = {}): RedirectRule {
  return { from, to: `http://${to}`, status: 200, force: true, ...more }
}

const paths = [
  '/api/users',
  '/api/users?a=b',
  '/api/users?',
  '/api/',
  '/api',
  '/api?a=b',
  '/api/a%2Fb%20c',
  '/api/a+b',
  '/api/%C3%BC',
  '/api/~user',
  '/api/a//b',
  '/api//a',
  '/api/a?next=http://x/y?z&q=%zz',
  '/api/a%3Fb%23c',
  '/api/%61',
  '/%61pi/users',
  '/apidocs',
  '/API/users',
  '/api/../index.html',
  '/api/./users',
  '/api/a/../b',
  '/api/%2e%2e/index.html',
  '/api/%00',
  '/api/%zz',
  '/api/a;b=c',
  '/api/a%5Cb',
  '/api/...',
  '/api/.hidden',
  '/api/$id/(x)/[y]/@z/!',
].map((path) => `GET ${path} ${html}`)

const dotSegments = ['/api/../index.html', '/api/./users', '/api/a/../b', '/api/%2e%2e/index.html'].map(
  (path) => `GET ${path} ${html}`,
)
const withoutSlash = [`GET /api ${html}`, `GET /api?a=b ${html}`]

const answers = [
  'GET /api/created',
  'GET /api/missing',
  'GET /api/failing',
  'GET /api/none',
  'GET /api/unchanged {If-None-Match: "a"}',
  'GET /api/part {Range: bytes=0-1}',
  'GET /api/chunked',
  'GET /api/endless',
  'GET /api/cookies',
  'GET /api/typed',
  'GET /api/encoded {Accept-Encoding: gzip}',
  'GET /api/own-fields',
  'GET /api/redirect-relative',
  'GET /api/redirect-own',
  'GET /api/redirect-else',
  'GET /api/redirect-client',
  'HEAD /api/typed',
  'GET /api/hop-by-hop',
]

const sent = [
  'GET /api/x {Accept: a/b | X-Own: 1 | Cookie: a=b; c=d | Authorization: Bearer x}',
  'GET /api/x {X-Empty: | User-Agent: test}',
  'GET /api/x {TE: trailers | Keep-Alive: timeout=5 | Upgrade: h2c}',
  'GET /api/x {Connection: close, X-Gone | X-Gone: 1}',
  'GET /api/x {Proxy-Authorization: x | Proxy-Connection: keep-alive}',
  'GET /api/x {Trailer: a}',
  'GET /api/x {with_underscore: 1}',
  'GET /api/x {X-Forwarded-For: 192.0.2.1}',
  'GET /api/x {X-Forwarded-Proto: https | X-Forwarded-Host: evil.example | X-Real-IP: 192.0.2.1}',
  'GET /api/x {Forwarded: for=192.0.2.1}',
  'GET /api/x {Range: bytes=0-1 | If-Range: "a" | If-None-Match: "a"}',
  'GET /api/x {Accept-Encoding: gzip, br | Accept-Language: de}',
  'POST /api/x {Content-Type: application/json} {"a":1}',
  'POST /api/x',
  'PUT /api/x whole body',
  'PATCH /api/x part',
  'DELETE /api/x',
  'DELETE /api/x with a body',
  'OPTIONS /api/x {Origin: https://a.example | Access-Control-Request-Method: PUT}',
  'PROPFIND /api/x',
  'PURGE /api/x',
  'TRACE /api/x',
  'GET /api/x a body',
  'POST /api/x {Transfer-Encoding: chunked} 3\r\nabc\r\n0\r\n\r\n',
  'POST /api/x {Expect: 100-continue} expected',
]

const mergedSlashes = ['GET //api/x', `GET //api/x ${html}`, 'GET /assets//app-12345678.js']
const controls = ['GET /api/%FF', 'GET /api/%0A']

const upgrade =
  'Connection: Upgrade | Upgrade: websocket | Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ== | Sec-WebSocket-Version: 13'

export const nginxPairs: Readonly<Record<string, NginxPair>> = {
  'proxy_pass without a path, and proxy_set_header': {
    lines: ({ api }) => spa + pass('/api/', api),
    rules: ({ api }) => ({ redirects: parseProxies(`/api=http://${api}`) }),
    requests: [...paths, ...answers, ...sent, ...mergedSlashes, ...controls],
    differs: {
      '//api/x, /assets//app.js': mergedSlashes,
      '%FF or %0A in a path, or ü without escapes': controls,
      '/api with a rule for /api/*': withoutSlash,
      'a dot segment below a prefix': dotSegments,
      'hop-by-hop fields, Proxy-*, Trailer, Forwarded': [
        'GET /api/hop-by-hop',
        'GET /api/x {Connection: close, X-Gone | X-Gone: 1}',
        'GET /api/x {Forwarded: for=192.0.2.1}',
        'GET /api/x {Proxy-Authorization: x | Proxy-Connection: keep-alive}',
        'GET /api/x {Trailer: a}',
      ],
      'X-Forwarded-For of a client': ['GET /api/x {X-Forwarded-For: 192.0.2.1}'],
      'a field such as with_underscore': ['GET /api/x {with_underscore: 1}'],
      'a body of unknown length': ['POST /api/x {Transfer-Encoding: chunked} 3\r\nabc\r\n0\r\n\r\n'],
      'POST without a body': ['POST /api/x', 'PROPFIND /api/x'],
    },
  },
  'proxy_pass with a slash': {
    lines: ({ api }) => spa + pass('/api/', `${api}/`, 'proxy_redirect default;'),
    rules: ({ api }) => ({ redirects: parseProxies(`/api=http://${api}/`) }),
    requests: [...paths, ...answers],
    differs: {
      '/api with a rule for /api/*': withoutSlash,
      'a dot segment below a prefix': dotSegments,
      'the path below a replaced prefix': [
        `GET /api/%61 ${html}`,
        `GET /api//a ${html}`,
        `GET /api/a%2Fb%20c ${html}`,
        `GET /api/a//b ${html}`,
        `GET /api/users? ${html}`,
      ],
      'hop-by-hop fields, Proxy-*, Trailer, Forwarded': ['GET /api/hop-by-hop'],
    },
  },
  'proxy_pass with another path': {
    lines: ({ api }) => pass('/api/', `${api}/v1/`) + pass('/auth', `${api}/realms/site`),
    rules: ({ api }) => ({
      redirects: parseProxies(`/api=http://${api}/v1,/auth=http://${api}/realms/site`),
    }),
    requests: [
      'GET /api/users',
      'GET /api/a/b?c',
      'GET /api/redirect-v1',
      'GET /auth/login?x=%20',
      'GET /auth',
      'GET /auth/redirect-own',
      'GET /authors',
    ],
    differs: { '/authors with location /auth': ['GET /authors'] },
  },
  'two locations, and envsubst': {
    lines: ({ api }) => pass('/api/', `${api}/one/`) + pass('/api/v2/', `${api}/two/`),
    rules: () => ({
      redirects: [
        { from: '/api/v2/*', to: { env: 'API', path: '/two/:splat' }, status: 200, force: true },
        { from: '/api/*', to: { env: 'API', path: '/one/:splat' }, status: 200, force: true },
      ],
    }),
    environment: ({ api }) => ({ API: `http://${api}` }),
    requests: ['GET /api/x', 'GET /api/v2/x', 'GET /api/v22', 'GET /api/v2/api/x', 'GET /api/v2/'],
  },
  'upstream and keepalive': {
    http: ({ api }) => `upstream backend { server ${api}; keepalive 16; }`,
    lines: () => pass('/api/', 'backend'),
    rules: ({ api }) => ({ redirects: [proxy('/api/*', api)] }),
    requests: ['GET /api/1', 'GET /api/2', 'POST /api/3 body', 'GET /api/none', 'HEAD /api/typed'],
  },
  'no proxy_set_header': {
    lines: ({ api }) => `location /api/ { proxy_pass http://${api}; }`,
    rules: ({ api }) => ({ redirects: [proxy('/api/*', api, { host: 'target' })] }),
    requests: [
      'GET /api/x',
      'POST /api/x body',
      'GET /api/x {X-Forwarded-For: 192.0.2.1}',
      'GET /api/chunked',
    ],
    differs: {
      'HTTP/1.0 and no X-Forwarded-*, without these lines': [
        'GET /api/chunked',
        'GET /api/x',
        'GET /api/x {X-Forwarded-For: 192.0.2.1}',
        'POST /api/x body',
      ],
    },
  },
  'proxy_set_header Host $host': {
    lines: ({ api }) => pass('/api/', api).replaceAll('$http_host', '$host'),
    rules: ({ api }) => ({ redirects: [proxy('/api/*', api)] }),
    requests: ['GET /api/x', 'GET /api/x {Host: PAIR:8080}', 'GET http://PAIR/api/x'],
    differs: { 'a port in Host, with $host': ['GET /api/x {Host: PAIR:8080}'] },
  },
  set_real_ip_from: {
    lines: ({ api }) =>
      `set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For; real_ip_recursive on;${pass('/api/', api)
        .replace('$scheme', '$http_x_forwarded_proto')
        .replace('X-Forwarded-Host $http_host', 'X-Forwarded-Host $http_x_forwarded_host')}`,
    rules: ({ api }) => ({ redirects: [proxy('/api/*', api)] }),
    trustProxy: '127.0.0.1',
    requests: [
      'GET /api/x {X-Forwarded-For: 192.0.2.1 | X-Forwarded-Proto: https | X-Forwarded-Host: a.example}',
      'GET /api/x {X-Forwarded-For: 192.0.2.9, 192.0.2.1 | X-Forwarded-Proto: https | X-Forwarded-Host: a.example}',
    ],
    differs: {
      'X-Forwarded-For, with set_real_ip_from': [
        'GET /api/x {X-Forwarded-For: 192.0.2.1 | X-Forwarded-Proto: https | X-Forwarded-Host: a.example}',
        'GET /api/x {X-Forwarded-For: 192.0.2.9, 192.0.2.1 | X-Forwarded-Proto: https | X-Forwarded-Host: a.example}',
      ],
    },
  },
  'proxy_set_header of own fields': {
    lines: ({ api }) =>
      pass(
        '/api/',
        api,
        'proxy_set_header X-Token secret; proxy_set_header Cookie ""; proxy_set_header Accept-Encoding identity; proxy_set_header Authorization "Bearer own";',
      ),
    rules: ({ api }) => ({
      redirects: [
        proxy('/api/*', api, {
          request: {
            'X-Token': { env: 'TOKEN' },
            Cookie: null,
            'Accept-Encoding': 'identity',
            Authorization: 'Bearer own',
          },
        }),
      ],
    }),
    environment: () => ({ TOKEN: 'secret' }),
    requests: [
      'GET /api/x',
      'GET /api/x {Cookie: a=b | x-token: forged | Accept-Encoding: br}',
      'GET /api/x {X_Token: forged}',
      'POST /api/x {authorization: Basic x} body',
    ],
  },
  'proxy_hide_header and add_header': {
    lines: ({ api }) =>
      pass(
        '/api/',
        api,
        'proxy_hide_header X-Powered-By; proxy_hide_header Set-Cookie; proxy_hide_header Cache-Control; add_header X-Frame-Options DENY always; add_header Cache-Control no-store always;',
      ),
    rules: ({ api }) => ({
      redirects: [
        proxy('/api/*', api, {
          answer: {
            'X-Powered-By': null,
            'Set-Cookie': null,
            'X-Frame-Options': 'DENY',
            'Cache-Control': 'no-store',
          },
        }),
      ],
    }),
    requests: [
      'GET /api/own-fields',
      'GET /api/cookies',
      'GET /api/x',
      'GET /api/missing',
      'GET /api/failing',
    ],
  },
  'add_header Access-Control-Allow-Origin': {
    lines: ({ api }) =>
      pass(
        '/api/',
        api,
        `add_header Access-Control-Allow-Origin https://a.example always;
         add_header Access-Control-Allow-Methods "GET, PUT" always;
         add_header Access-Control-Allow-Headers Content-Type always;
         if ($request_method = OPTIONS) { return 204; }`,
      ),
    rules: ({ api }) => ({
      redirects: [
        proxy('/api/*', api, {
          answer: {
            'Access-Control-Allow-Origin': 'https://a.example',
            'Access-Control-Allow-Methods': 'GET, PUT',
            'Access-Control-Allow-Headers': 'Content-Type',
          },
        }),
      ],
    }),
    requests: [
      'OPTIONS /api/x {Origin: https://a.example | Access-Control-Request-Method: PUT}',
      'OPTIONS /api/x',
      'GET /api/x {Origin: https://a.example}',
    ],
    differs: {
      'OPTIONS, with if and return 204': [
        'OPTIONS /api/x',
        'OPTIONS /api/x {Origin: https://a.example | Access-Control-Request-Method: PUT}',
      ],
    },
  },
  client_max_body_size: {
    lines: ({ api }) => `client_max_body_size 16; ${pass('/api/', api)}`,
    rules: ({ api }) => ({ redirects: [proxy('/api/*', api, { bodyLimit: 16 })] }),
    requests: [
      'POST /api/x 16 octets here..',
      'POST /api/x 17 octets here...',
      'POST /api/x {Transfer-Encoding: chunked} 10\r\n16 octets here..\r\n0\r\n\r\n',
      'POST /api/x {Transfer-Encoding: chunked} 11\r\n17 octets here...\r\n0\r\n\r\n',
      'POST /api/x {Expect: 100-continue} 17 octets here...',
      'GET /api/x',
    ],
    differs: {
      'a body of unknown length': [
        'POST /api/x {Transfer-Encoding: chunked} 10\r\n16 octets here..\r\n0\r\n\r\n',
      ],
    },
  },
  proxy_read_timeout: {
    lines: ({ api }) => pass('/api/', api, 'proxy_read_timeout 300ms; proxy_send_timeout 300ms;'),
    rules: ({ api }) => ({ redirects: [proxy('/api/*', api, { timeout: '300ms' })] }),
    requests: ['GET /api/silent', `GET /api/silent ${html}`, 'POST /api/silent body', 'GET /api/x'],
  },
  'error_page 502 504 /50x.html': {
    lines: ({ down, api }) =>
      `error_page 502 504 /50x.html; location = /50x.html { } ${pass('/api/', down)} ${pass('/bad/', api)}`,
    rules: ({ down, api }) => ({ redirects: [proxy('/api/*', down), proxy('/bad/*', api)] }),
    requests: [
      `GET /api/x ${html}`,
      'GET /api/x {Accept: application/json}',
      `HEAD /api/x ${html}`,
      'POST /api/x body',
      `GET /bad/closes ${html}`,
      `GET /bad/failing ${html}`,
      `GET /bad/long-head ${html}`,
    ],
  },
  'proxy_pass http://unix:': {
    lines: ({ socket }) => pass('/api/', `unix:${socket}`) + pass('/v1/', `unix:${socket}:/own/`),
    rules: ({ socket }) => ({
      redirects: parseProxies(`/api=unix:${socket},/v1=unix:${socket}:/own`),
    }),
    requests: ['GET /api/x?y', 'POST /api/x body', 'GET /v1/a/b', 'GET /v1/missing', 'HEAD /v1/typed'],
  },
  'location = of the API': {
    lines: ({ api }) => spa + pass('= /hook', api) + pass('= /login', `${api}/auth/login`),
    rules: ({ api }) => ({ redirects: [proxy('/hook', api), proxy('/login', `${api}/auth/login`)] }),
    requests: [
      'POST /hook {X-Signature: 1} event',
      'GET /hook?a=b',
      `GET /hook/ ${html}`,
      `GET /hook/x ${html}`,
      `GET /hooks ${html}`,
      'POST /login?next=/ name=a',
    ],
  },
  'try_files $uri @api': {
    lines: ({ api }) => `location / { try_files $uri $uri/index.html @api; } ${pass('@api', api)}`,
    rules: ({ api }) => ({ redirects: [proxy('/*', api, { force: false })] }),
    requests: [
      'GET /',
      'GET /robots.txt',
      'GET /assets/app-12345678.js',
      'GET /users?a=b',
      `GET /users ${html}`,
      'POST /users body',
      'GET /docs/',
      'GET /assets/gone-12345678.js',
      'POST / body',
      'POST /robots.txt body',
    ],
    differs: { 'a missing hashed file, with try_files $uri @api': ['GET /assets/gone-12345678.js'] },
  },
  'WebSocket upgrade': {
    http: () => `map $http_upgrade $connection_upgrade { default upgrade; '' ''; }`,
    lines: ({ api }) =>
      pass('/api/', api, 'proxy_set_header Upgrade $http_upgrade;').replace(
        'Connection ""',
        'Connection $connection_upgrade',
      ),
    rules: ({ api }) => ({ redirects: [proxy('/api/*', api)] }),
    requests: [
      `GET /api/socket?a=b {${upgrade}}`,
      `GET /api/socket {${upgrade} | Sec-WebSocket-Protocol: chat | Origin: https://a.example}`,
      `GET /api/missing {${upgrade}}`,
      'GET /api/x',
    ],
  },
  'try_files $uri /index.html': {
    lines: () => spa,
    rules: () => ({}),
    requests: [
      `GET / ${html}`,
      `GET /users/1 ${html}`,
      `HEAD /users/1 ${html}`,
      'GET /robots.txt',
      'GET /robots.txt {Range: bytes=0-3}',
      'GET /robots.txt {Range: bytes=900-}',
      'HEAD /robots.txt',
      'GET /logo.png',
      'GET /gone.png {Accept: image/png}',
      'GET /users/1 {Sec-Fetch-Mode: cors}',
      `GET /docs ${html}`,
      `GET /docs/ ${html}`,
      'POST / body',
      'DELETE /robots.txt',
      'OPTIONS /robots.txt',
      `GET /.env ${html}`,
      `GET /robots.txt/ ${html}`,
    ],
    differs: {
      'a missing image': ['GET /gone.png {Accept: image/png}'],
      'a fetch of a route': ['GET /users/1 {Sec-Fetch-Mode: cors}'],
      'a folder without its slash': [`GET /docs ${html}`],
      'OPTIONS of a file': ['OPTIONS /robots.txt'],
    },
  },
  'location and alias of a second application': {
    lines: ({ admin }) => `${spa} location /admin/ { alias ${admin}/; try_files $uri /admin/index.html; }`,
    rules: () => ({}),
    hasSecondBuild: true,
    requests: [
      `GET / ${html}`,
      `GET /admin/ ${html}`,
      `GET /admin/users ${html}`,
      `GET /users ${html}`,
      'GET /admin/logo.svg',
      'GET /logo.png',
    ],
  },
  'return, rewrite and if': {
    lines: () => `${spa}
      location = /old { return 301 /new; }
      location = /away { return 302 https://else.example/there; }
      location = /found { return 302 /new?a=b; }
      location = /moved { return 308 /new; }
      location /wiki/ { rewrite ^/wiki/(.*)$ https://wiki.example/$1 redirect; }
      rewrite ^/blog/(.*)$ /posts/$1 permanent;
      location = /item.php { if ($arg_id) { return 301 /items/$arg_id; } return 301 /items; }
      location = /alias { rewrite ^ /robots.txt break; }
      location = /gone { error_page 404 /50x.html; return 404; }`,
    rules: () => ({
      redirects: [
        { from: '/old', to: '/new', status: 301 },
        { from: '/away', to: 'https://else.example/there', status: 302 },
        { from: '/found', to: '/new?a=b', status: 302 },
        { from: '/moved', to: '/new', status: 308 },
        { from: '/wiki/*', to: 'https://wiki.example/:splat', status: 302 },
        { from: '/blog/*', to: '/posts/:splat', status: 301 },
        { from: '/item.php', query: { id: ':id' }, to: '/items/:id', status: 301 },
        { from: '/item.php', to: '/items', status: 301 },
        { from: '/alias', to: '/robots.txt', status: 200 },
        { from: '/gone', to: '/50x.html', status: 404 },
      ],
    }),
    requests: [
      'GET /old',
      'GET /old?a=b',
      'HEAD /old',
      'POST /old body',
      `GET /old/ ${html}`,
      'GET /away?a=b',
      'GET /found',
      'GET /found?c=d',
      'POST /moved body',
      'GET /wiki/A%20b/c?d',
      'GET /blog/2026/a?b=c',
      'GET /blog/',
      `GET /blog ${html}`,
      'GET /item.php?id=7',
      'GET /item.php?id=7&utm=a',
      'GET /item.php',
      'GET /alias',
      `GET /gone ${html}`,
    ],
    differs: {
      'the query of a redirect by return': ['GET /away?a=b', 'GET /item.php?id=7&utm=a', 'GET /old?a=b'],
      'another method of a redirect': ['POST /moved body', 'POST /old body'],
      '/api with a rule for /api/*': [`GET /blog ${html}`],
    },
  },
  auth_basic: {
    lines: ({ api, htpasswd }) => `
      auth_basic Restricted;
      auth_basic_user_file ${htpasswd};
      ${spa}
      location /.well-known/ { auth_basic off; }
      ${pass('/api/', api)}`,
    rules: ({ api }) => ({
      basicAuth: { env: 'SITE_PASSWORD', except: ['/.well-known/**'] },
      redirects: [proxy('/api/*', api)],
    }),
    environment: ({ credentials }) => ({ SITE_PASSWORD: credentials }),
    requests: [
      `GET / ${html}`,
      'GET / {Authorization: Basic YW5uYTpzZWNyZXQ= | Accept: text/html}',
      'GET / {Authorization: Basic YW5uYTp3cm9uZw==}',
      'GET / {Authorization: Basic Ym9iOnNlY3JldA==}',
      'GET / {Authorization: Bearer YW5uYTpzZWNyZXQ=}',
      'GET / {Authorization: basic YW5uYTpzZWNyZXQ= | Accept: text/html}',
      'GET / {Authorization: Basic !}',
      'GET /.well-known/security.txt',
      'GET /api/x',
      'POST /api/x body',
      'GET /api/x {Authorization: Basic YW5uYTpzZWNyZXQ=}',
    ],
  },
  'return 503': {
    lines: () => `error_page 503 /maintenance.html;
      location = /maintenance.html { internal; }
      location /assets/ { }
      location / { return 503; }`,
    rules: () => ({ redirects: [{ from: '/*', to: '/maintenance.html', status: 503, force: true }] }),
    requests: [
      `GET / ${html}`,
      `GET /users ${html}`,
      `HEAD /users ${html}`,
      'GET /users {Accept: */*}',
      'GET /users',
      'GET /api/x {Accept: application/json}',
      'POST /api/x body',
      'GET /robots.txt {Accept: text/plain}',
      'GET /assets/app-12345678.js',
    ],
    differs: {
      'a program during maintenance': [
        'GET /api/x {Accept: application/json}',
        'GET /robots.txt {Accept: text/plain}',
        'POST /api/x body',
      ],
    },
  },
  'location = /healthz': {
    lines: () =>
      `${spa} location = /healthz { access_log off; return 200 "ok\\n"; default_type text/plain; }`,
    rules: () => ({ health: '/healthz' }),
    requests: [
      'GET /healthz',
      'HEAD /healthz',
      'GET /healthz?a',
      'POST /healthz body',
      `GET /healthz/ ${html}`,
    ],
    differs: { 'POST of a health path': ['POST /healthz body'] },
  },
}
