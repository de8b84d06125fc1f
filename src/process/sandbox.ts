import { existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { EXIT, RaymondError } from '../errors.ts';
import { execProgram } from './exec-program.ts';

/*
 * Runs a command in a sandbox of bubblewrap: folders in, arguments out. Which folders these are is decided elsewhere.
 *
 * 1. The machine is read-only, and only what a mount makes writable can be changed.
 * 2. All processes end with the command: it runs below a shell that is process 1 of a namespace of its own.
 * 3. The network is empty, but for the doors of the sandbox.
 * 4. From outside, the processes carry the marker of their turn and take signals like any other. So bubblewrap never ends with us.
 */

/** What a sandboxed command finds at a path. Mounts further down go over it. */
export type Mount =
  /** The same file or folder as outside, or another one. */
  | { readonly kind: 'write' | 'read'; readonly path: string; readonly from?: string }
  /** An empty folder, in which nothing lasts. */
  | { readonly kind: 'empty'; readonly path: string; readonly readOnly?: true }
  /** A file that cannot be opened. */
  | { readonly kind: 'closed'; readonly path: string }
  /** A link to another path. */
  | { readonly kind: 'link'; readonly path: string; readonly to: string };

/** The facts of a turn that its sandbox depends on. They are part of what turns of one process share. */
export interface SandboxRequest {
  readonly kind: 'prompt' | 'script';
  readonly agent: string;
  /** The folders of its task and of the run. */
  readonly folders: readonly string[];
  /** The conversations that it continues. */
  readonly sessions: readonly string[];
}

/** A port inside a sandbox that leads to a Unix socket, the only way out. */
export interface SandboxDoor {
  readonly port: number;
  /** The name of the socket in the folder of doors. */
  readonly socket: string;
}

/** Everything that the arguments of bubblewrap depend on. */
export interface SandboxPlan {
  readonly mounts: readonly Mount[];
  readonly cwd: string;
  readonly doors: readonly SandboxDoor[];
}

/** The programs that make a sandbox. */
export interface SandboxPrograms {
  readonly bubblewrap: string;
  readonly socat: string;
}

/** The folder inside that holds the sockets of the doors. */
export const DOORS_FOLDER = '/run/raymond';

const NAMESPACES = ['user', 'pid', 'net', 'ipc', 'uts'];

/** True if this process is root: then it could change settings of the kernel through `/proc`. */
const isRoot = (): boolean => process.getuid?.() === 0;

/** The arguments that all sandboxes share. */
const baseArguments = (): readonly string[] => [
  ...NAMESPACES.map((name) => `--unshare-${name}`),
  ...[
    '--cap-drop',
    'ALL',
    '--as-pid-1',
    '--hostname',
    'sandbox',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
  ],
  ...(isRoot() ? ['--remount-ro', '/proc'] : []),
];

/** Wraps a command in a sandbox: file and arguments in, file and arguments out. */
export function sandboxCommand(
  { bubblewrap, socat }: SandboxPrograms,
  { mounts, cwd, doors }: SandboxPlan,
  command: readonly string[],
): readonly [file: string, ...args: string[]] {
  const sorted = mounts.toSorted((a, b) => comparePaths(a.path, b.path));
  return [
    bubblewrap,
    ...baseArguments(),
    ...sorted.flatMap(mountArguments),
    // A folder that is read-only takes no mount points.
    ...sorted.flatMap((mount) => (mount.kind === 'empty' && mount.readOnly ? ['--remount-ro', mount.path] : [])),
    ...['--chdir', cwd, '--', '/bin/sh', '-c', firstProcess(socat, doors), 'raymond', ...command],
  ];
}

/** Puts folders before what is in them. */
const comparePaths = (a: string, b: string): number => {
  const [left, right] = [a, b].map((path) => path.replaceAll('/', '\0'));
  return left === right ? 0 : (left ?? '') < (right ?? '') ? -1 : 1;
};

function mountArguments(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case 'write':
      return ['--bind', mount.from ?? mount.path, mount.path];
    case 'read':
      return ['--ro-bind', mount.from ?? mount.path, mount.path];
    case 'empty':
      return ['--tmpfs', mount.path];
    case 'closed':
      // Without the right to use devices, nobody can open it.
      return ['--ro-bind', '/dev/null', mount.path];
    case 'link':
      return ['--symlink', mount.to, mount.path];
  }
}

/**
 * The shell that is process 1. It opens the doors, and waits until they are open; it does not become the command, because then nobody
 * would collect orphans, and the command would ignore signals. When it ends, the kernel kills all others.
 */
function firstProcess(socat: string, doors: readonly SandboxDoor[]): string {
  const opened = doors.flatMap(({ port, socket }) => [
    `${quote(socat)} TCP4-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:${DOORS_FOLDER}/${socket} </dev/null >/dev/null 2>&1 &`,
    `until is_open ${port.toString(16).toUpperCase().padStart(4, '0')} || ! kill -0 $! 2>/dev/null; do :; done`,
  ]);
  return [...(doors.length === 0 ? [] : [IS_OPEN]), ...opened, '"$@"', 'exit $?'].join('\n');
}

/** Looks for a listening port with built-ins only. */
const IS_OPEN =
  'is_open() { while read -r _ address _ state _; do case "$address $state" in *":$1 0A") return 0;; esac; done </proc/net/tcp; return 1; }';

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The reasons why there can be no sandbox, by what bubblewrap says, and the remedies. */
const REFUSALS: readonly (readonly [said: RegExp, reason: string, remedy: string])[] = [
  [
    /setting up uid map: Permission denied|RTM_NEWADDR/,
    'this system lets bubblewrap make no namespaces (AppArmor)',
    'Give bubblewrap a profile that permits `userns`: https://github.com/containers/bubblewrap and docs/sandbox.md show one.',
  ],
  [
    /max_\w*_namespaces exceeded|No permissions to creat|Creating new namespace failed|unprivileged_userns_clone/i,
    'this system lets users make no namespaces',
    'Permit them: `sysctl -w user.max_user_namespaces=10000`, on some systems also `kernel.unprivileged_userns_clone=1`.',
  ],
  [
    /Can't mount proc|mount proc.*(?:not permitted|denied)|pivot_root|Failed to make \/ slave/i,
    'this is a container that permits no sandbox in it',
    'Run without --sandbox here: the container is the sandbox. See docs/sandbox.md.',
  ],
];

const INSTALL = 'Install it: `apt-get install bubblewrap socat`, or the packages of the same names elsewhere.';

/** Explains why there is no sandbox on this machine. */
class NoSandboxError extends RaymondError {
  constructor(reason: string, hint: string) {
    super(`there is no sandbox here: ${reason}`, { exitCode: EXIT.usage, hint });
  }
}

const found = new Map<string, Promise<SandboxPrograms>>();

/** Finds the programs that make a sandbox, and tries them once; throws a NoSandboxError that says what to do. */
export async function findSandbox(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Promise<SandboxPrograms> {
  if (platform !== 'linux')
    throw new NoSandboxError('it needs Linux', 'Run without --sandbox, or on Linux, in a container or in WSL.');
  const key = env.PATH ?? '';
  const known = found.get(key);
  if (known !== undefined) return known;
  const trying = trySandbox(env);
  found.set(key, trying);
  // Somebody may install it meanwhile.
  trying.catch(() => found.delete(key));
  return trying;
}

async function trySandbox(env: NodeJS.ProcessEnv): Promise<SandboxPrograms> {
  const [bubblewrap, socat] = [findProgram('bwrap', env), findProgram('socat', env)];
  if (bubblewrap === null) throw new NoSandboxError('bubblewrap (`bwrap`) is not on the PATH', INSTALL);
  if (socat === null) throw new NoSandboxError('`socat` is not on the PATH', INSTALL);
  const args = [...baseArguments(), '--tmpfs', '/run', '--', '/bin/sh', '-c', ':'];
  const { exitCode, stderr, spawnError, timedOut } = await execProgram(bubblewrap, args, { env: { PATH: env.PATH } });
  if (exitCode === 0) return { bubblewrap, socat };
  const said = timedOut ? 'it does not answer' : (spawnError?.message ?? stderr).trim();
  const [, reason, remedy] = REFUSALS.find(([pattern]) => pattern.test(said)) ?? [];
  if (reason === undefined || remedy === undefined)
    throw new NoSandboxError(
      `${bubblewrap} does not work: ${said.slice(0, MAX_QUOTE_CHARS)}`,
      'Check `bwrap --version`.',
    );
  throw new NoSandboxError(`${reason}: ${said.slice(0, MAX_QUOTE_CHARS)}`, remedy);
}

const MAX_QUOTE_CHARS = 200;

function findProgram(name: string, env: NodeJS.ProcessEnv): string | null {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'));
  const path = folders.map((folder) => join(folder, name)).find((each) => existsSync(each) && statSync(each).isFile());
  return path ?? null;
}
