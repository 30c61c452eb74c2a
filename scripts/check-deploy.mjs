// `pnpm check:deploy`: what docs/deploying.md and deploy/ say, done on this machine.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkContainer } from './deploy/check-container.mjs'
import { checkInstructions } from './deploy/check-instructions.mjs'
import { checkKubernetes } from './deploy/check-kubernetes.mjs'
import { checkProxies } from './deploy/check-proxies.mjs'
import { checkSystemd } from './deploy/check-systemd.mjs'
import { openFindings } from './deploy/findings.mjs'
import { installLinters } from './deploy/install-linters.mjs'
import { standAloneCopy } from './deploy/stand-alone-copy.mjs'

if (process.platform !== 'linux') {
  console.log('⚠ SKIPPED: deploying is checked on Linux only')
  process.exit(0)
}

const findings = openFindings()
const python = await installLinters()
const directory = await mkdtemp(join(tmpdir(), 'serve-dist-deploy-'))
// Others than us work in it.
await chmod(directory, 0o755)
try {
  const copy = await standAloneCopy(directory)
  const application = await checkContainer({ ...copy, directory, python }, findings)
  await checkSystemd({ application, directory }, findings)
  await checkInstructions({ project: copy.project, application, directory }, findings)
  await checkKubernetes(python, findings)
  await checkProxies({ application, directory }, findings)
} finally {
  await rm(directory, { recursive: true, force: true })
}
if (!findings.areGood()) process.exitCode = 1
