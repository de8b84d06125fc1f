import { quoteInMessage } from '../yaml/finding-report.ts';

/** A name in a zip, made safe: a file in some folders, something to pass over, or a reason to refuse the zip. */
export type ZipName =
  | { readonly kind: 'file'; readonly folders: readonly string[]; readonly file: string }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'refused'; readonly message: string };

/** Judges one name by itself. */
export function checkZipName(name: string): ZipName {
  const refuse = (why: string): ZipName => ({ kind: 'refused', message: `it holds ${quoteInMessage(name)}, ${why}` });
  if (name.includes('\0')) return refuse('a name with a NUL character');
  if (name.includes('\\')) return refuse('a name with a backslash: make the zip with a tool that writes `/`');
  if (name.startsWith('/') || /^[a-z]:/i.test(name)) return refuse('an absolute path; names must be relative');
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) return refuse('a path that leads out of the zip');
  const file = parts.at(-1);
  const isFolder = name === '' || name.endsWith('/');
  if (isFolder || file === undefined || parts[0] === '__MACOSX' || parts.some((part) => part.startsWith('.'))) {
    return { kind: 'ignored' };
  }
  return { kind: 'file', folders: parts.slice(0, -1), file };
}

/** Why the files of a zip do not make one flat workflow, or undefined if they do. */
export function findLayoutProblem(
  files: readonly { readonly folders: readonly string[]; readonly file: string }[],
): string | undefined {
  const [first] = files;
  if (first === undefined) return 'it is empty: it holds no files (dot files and `__MACOSX` do not count)';
  const nested = files.find(({ folders }) => folders.length > 1);
  if (nested !== undefined) {
    const path = quoteInMessage([...nested.folders, nested.file].join('/'));
    return `it holds folders within a folder (${path}): keep all states at the top, or in one folder`;
  }
  const atTop = files.find(({ folders }) => folders.length === 0);
  const topFolders = [...new Set(files.flatMap(({ folders }) => folders))];
  if (atTop !== undefined && topFolders[0] !== undefined) {
    return `it holds files at the top (${quoteInMessage(atTop.file)}) and a folder (${quoteInMessage(topFolders[0])}): keep all states in one place`;
  }
  if (topFolders.length > 1) {
    return `it holds several folders (${topFolders.slice(0, 3).map(quoteInMessage).join(', ')}${topFolders.length > 3 ? ', …' : ''}): zip one workflow at a time`;
  }
  const seen = new Set<string>();
  const duplicate = files.find(({ file }) => seen.size === seen.add(file).size);
  return duplicate && `it holds two files named ${quoteInMessage(duplicate.file)}`;
}
