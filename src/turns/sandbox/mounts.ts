import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { type GitPlace, isWithin, realPathOf } from '../../git-repository.ts';
import { DOORS_FOLDER, type Mount } from '../../process/sandbox.ts';
import { isPlain, lookAt, MountTable } from './mount-table.ts';
import { SANDBOX_POLICY } from './policy.ts';

/** Everything that the mounts of a turn depend on. All paths are absolute, and those of folders without links. */
export interface SandboxScene {
  readonly home: string | null;
  /** The folder that is writable as a whole. */
  readonly root: string;
  /** The repository of that folder, if it has one of its own or is in one. */
  readonly git: GitPlace | null;
  /** The entries of the policy that the folder and its repository had when the run first used it. */
  readonly protectedPaths: readonly string[];
  /** More folders of the turn that are writable: of its task and of the run. */
  readonly folders: readonly string[];
  readonly raymond: { readonly root: string; readonly runs: string; readonly run: string; readonly sandbox: string };
  /** The workflows of the run; empty if agents may edit them. */
  readonly workflows: readonly string[];
  /** Programs, and where to look for them. */
  readonly programs: readonly string[];
  readonly path: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** The folder that `/tmp` is inside. */
  readonly temporary: string;
  /** A file for the identity of git; null for none. */
  readonly gitConfig: string | null;
  /** The folder of Claude Code, with the folders of conversations that the turn needs; null for a script. */
  readonly claude: ClaudeFolder | null;
  /** The folder of sockets; null for a turn that reaches nobody. */
  readonly doors: string | null;
  readonly isRoot: boolean;
  /** Paths as they are written, which may go through links. */
  readonly spellings: readonly string[];
}

/** The folder of Claude Code, and the folders of conversations that a turn needs. */
export interface ClaudeFolder {
  readonly dir: string;
  /** True if it may have to renew its token there. */
  readonly renewsToken: boolean;
  readonly conversations: readonly string[];
}

/** Decides the mounts of a turn. */
export function planMounts(scene: SandboxScene): readonly Mount[] {
  const table = new MountTable();
  addMachine(table, scene);
  addPrograms(table, scene);
  for (const path of scene.read) table.add({ kind: 'read', path });
  addWork(table, scene);
  addRaymond(table, scene);
  if (scene.claude !== null) addClaude(table, scene.claude);
  if (scene.gitConfig !== null && scene.home !== null)
    table.add({ kind: 'read', path: join(scene.home, '.gitconfig'), from: scene.gitConfig });
  if (scene.doors !== null) table.add({ kind: 'read', path: DOORS_FOLDER, from: scene.doors });
  for (const path of scene.spellings) table.addLinks(path);
  closeSockets(table);
  return table.all();
}

function addMachine(table: MountTable, { home, temporary, isRoot }: SandboxScene): void {
  const { emptied } = SANDBOX_POLICY.machine;
  for (const path of emptied) if (lookAt(path)?.isDirectory() === true) table.add({ kind: 'empty', path });
  if (home !== null && lookAt(home)?.isDirectory() === true && !emptied.some((path) => path === home))
    table.add({ kind: 'empty', path: home });
  table.add({ kind: 'write', path: '/tmp', from: temporary });
  if (isRoot) for (const mount of closedToRoot()) table.add(mount);
}

let knownClosed: readonly Mount[] | undefined;

/** Without its capabilities, root still owns the files that only root can read. */
function closedToRoot(): readonly Mount[] {
  knownClosed ??= SANDBOX_POLICY.machine.rootOnly.flatMap((folder) =>
    listNames(folder).flatMap((name): readonly Mount[] => {
      const path = join(folder, name);
      const stats = lookAt(path);
      if (stats === null || stats.uid !== 0 || (stats.mode & 0o004) !== 0) return [];
      if (stats.isDirectory()) return [{ kind: 'empty', path }];
      return stats.isFile() ? [{ kind: 'closed', path }] : [];
    }),
  );
  return knownClosed;
}

/** Adds what is needed of programs in folders that are empty inside, such as those that a user has installed at home. */
function addPrograms(table: MountTable, { path, programs, home }: SandboxScene): void {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && isPlain(realPathOf(folder)));
  const needed = [
    ...folders.flatMap((folder) => [folder, realPathOf(folder)]).flatMap(withLibraries),
    ...programs.flatMap((program) => [program, packageOf(realPathOf(program))]),
  ];
  for (const each of new Set(needed)) {
    const isTooMuch = home !== null && isWithin(home, each);
    if (!isTooMuch && table.isEmptied(each) && isPlain(each)) table.add({ kind: 'read', path: each });
  }
}

const PACKAGES = /^(.*?\/node_modules)(?:\/.*)?$/s;

/** A folder of programs, and those beside it that they load. */
function withLibraries(folder: string): readonly string[] {
  const [, packages] = PACKAGES.exec(folder) ?? [];
  if (packages !== undefined) return [packages];
  if (!/\/s?bin$/.test(folder)) return [folder];
  return [folder, ...['lib', 'lib64', 'libexec'].map((name) => join(dirname(folder), name))];
}

/** The package that a program is part of, or its folder. */
function packageOf(program: string): string {
  for (let folder = dirname(program); folder !== dirname(folder); folder = dirname(folder))
    if (isPlain(join(folder, 'package.json'))) return folder;
  return program;
}

function addWork(table: MountTable, scene: SandboxScene): void {
  const { root, git, folders, write, workflows, protectedPaths } = scene;
  // The folders around the working folder belong to the same project.
  if (git !== null && git.top !== root) table.add({ kind: 'read', path: git.top });
  for (const path of [root, ...write]) table.add({ kind: 'write', path });
  for (const path of folders) if (!table.isWritable(path)) table.add({ kind: 'write', path });
  if (git !== null) addGit(table, git);
  for (const path of protectedPaths) {
    const holder = [...write, root, git?.top ?? root, git?.commonDir ?? root, git?.gitDir ?? root].findLast(
      (folder) => path !== folder && isWithin(path, folder),
    );
    if (table.isWritable(dirname(path))) table.protect(path, holder ?? root);
  }
  for (const path of workflows) {
    if (table.isWritable(path)) table.protect(path, root);
    else if (table.isEmptied(path) && isPlain(path)) table.add({ kind: 'read', path });
  }
}

/** The folder of git must be a mount of its own, or it could be moved away with what is read-only in it. */
function addGit(table: MountTable, { top, gitDir, commonDir }: GitPlace): void {
  table.add({ kind: 'write', path: commonDir });
  if (gitDir === commonDir) return;
  // The links of other worktrees are none of this turn's business.
  table.protect(dirname(gitDir), commonDir);
  table.add({ kind: 'write', path: gitDir });
  const link = join(top, '.git');
  if (table.isWritable(link)) table.protect(link, top);
}

function addRaymond(table: MountTable, { raymond: { root, runs, run, sandbox }, folders }: SandboxScene): void {
  if (!isPlain(root)) return;
  table.add({ kind: 'read', path: root });
  // Other runs, and the sockets of this one, are out of sight.
  table.add({ kind: 'empty', path: runs, readOnly: true });
  table.add({ kind: 'read', path: run });
  table.add({ kind: 'empty', path: sandbox, readOnly: true });
  for (const path of folders) if (isWithin(path, root)) table.add({ kind: 'write', path });
}

function addClaude(table: MountTable, { dir, renewsToken, conversations }: ClaudeFolder): void {
  const { credentials, conversations: projects, thrownAway, closed, readOnly } = SANDBOX_POLICY.claude;
  table.add(renewsToken ? { kind: 'write', path: dir } : { kind: 'empty', path: dir });
  const emptied: readonly string[] = [...thrownAway, projects];
  const followed: readonly string[] = [...Object.keys(readOnly.files), ...readOnly.folders];
  for (const name of new Set([...listNames(dir), ...emptied])) {
    const path = join(dir, name);
    const from = followed.includes(name) ? realPathOf(path) : path;
    if (name === credentials) continue;
    if (emptied.includes(name)) table.add({ kind: 'empty', path });
    else if (closed.some((each) => each === name)) table.add({ kind: 'closed', path });
    else if (isPlain(from)) table.add({ kind: 'read', path, from });
  }
  for (const path of conversations) table.add({ kind: 'write', path });
}

/** Closes the Unix sockets that could be seen inside: a read-only mount does not keep anybody from connecting. */
function closeSockets(table: MountTable): void {
  let text: string;
  try {
    text = readFileSync('/proc/net/unix', 'latin1');
  } catch {
    return;
  }
  const paths = new Set(text.split('\n').flatMap((line) => /\s(\/.*)$/.exec(line)?.[1] ?? []));
  for (const path of paths)
    if (!table.isEmptied(path) && lookAt(path)?.isSocket() === true && realPathOf(path) === path)
      table.add({ kind: 'closed', path });
}

const listNames = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** The entries of the policy that a folder and its repository have: programs start what they name. */
export function findProtectedPaths(root: string, git: GitPlace | null): readonly string[] {
  const { project, git: gitNames } = SANDBOX_POLICY;
  const tops = new Set([root, ...(git === null ? [] : [git.top])]);
  const inProject = [...tops].flatMap((folder) => project.map((name) => join(folder, name)));
  const inGit =
    git === null
      ? []
      : [
          ...gitNames.common.map((name) => join(git.commonDir, name)),
          ...(git.gitDir === git.commonDir ? [] : gitNames.worktree.map((name) => join(git.gitDir, name))),
          ...namedByConfig(git),
        ];
  return [...inProject, ...inGit].filter(isPlain);
}

/** The hooks and further settings that the settings of a repository name. */
function namedByConfig({ top, commonDir }: GitPlace): readonly string[] {
  let text: string;
  try {
    text = readFileSync(join(commonDir, 'config'), 'utf8');
  } catch {
    return [];
  }
  const named = [...text.matchAll(/^\s*(hooksPath|path)\s*=\s*"?([^"\n#;]+?)"?\s*$/gim)];
  return named.flatMap(([, key = '', value = '']) => {
    const path = resolve(key.toLowerCase() === 'path' ? commonDir : top, value);
    return isWithin(path, top) ? [path] : [];
  });
}
