import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** Names of files that contain passwords, tokens or private keys. */
const secretNames: readonly RegExp[] = [
  /^\.env(?:\..+)?$/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)$/,
  /^\.(?:npmrc|netrc|pypirc|htpasswd|git-credentials|dockercfg|pgpass)$/,
  /^(?:service-?account|credentials|client_secret).*\.json$/i,
  /\.tfstate$/,
]

/** Names of samples, which contain no secrets. */
const sample = /\.(?:example|sample|template|dist)$/

/**
 * Returns the sorted paths of files with names of secrets, or no path if the folder cannot be listed. A `.pem` that
 * contains only certificates is public, and a `.key` may be a presentation.
 */
export async function findSecretFiles(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => !entry.isDirectory() && isSecretName(entry.name))
  const found: string[] = []
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name)
    if (!(await isHarmless(file))) found.push(relative(root, file).split(sep).join('/'))
  }
  return found.toSorted()
}

function isSecretName(name: string): boolean {
  return secretNames.some((pattern) => pattern.test(name)) && !sample.test(name)
}

async function isHarmless(file: string): Promise<boolean> {
  if (!/\.(?:pem|key)$/i.test(file)) return false
  const text = await readFile(file, 'latin1').catch(() => '')
  const isZip = text.startsWith('PK')
  return isZip || (/-----BEGIN (?:CERTIFICATE|PUBLIC KEY)/.test(text) && !text.includes('PRIVATE KEY'))
}
