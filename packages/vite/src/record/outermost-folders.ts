import { isInside } from './is-inside.ts'

/** The folders, absolute, that lie inside no other of them. */
export function outermostFolders(folders: Iterable<string>): string[] {
  const all = [...new Set(folders)]
  return all.filter((folder) => !all.some((other) => other !== folder && isInside(folder, other)))
}
