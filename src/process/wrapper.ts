import { isAbsolute, resolve } from 'node:path';
import { type ProcessCommand, WRAPPER_VARIABLE } from './command.ts';

/** What to spawn in a turn's folder so that a command runs, and leaves its traces, without us. */
export interface WrappedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Wraps a command in a shell script that uses built-ins only: an external command would double what a start costs. */
export function wrapCommand({ file, args, cwd, env }: ProcessCommand): WrappedCommand {
  const clean: Record<string, string> = {};
  const unusable: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (/^[A-Za-z_]\w*$/.test(name) && !SHELLS_OWN.has(name) && !name.startsWith(OWN_PREFIX)) clean[name] = value;
    else unusable.push(`${name}=${value}`);
  }
  unusable.forEach((pair, index) => {
    clean[`${UNUSABLE_PREFIX}${index}`] = pair;
  });
  clean[WRAPPER_VARIABLE] = '1';
  const folder = isAbsolute(cwd) ? cwd : resolve(cwd);
  return { file: '/bin/sh', args: ['-c', script(file, unusable.length), 'raymond', folder, file, ...args], env: clean };
}

/** Names that a shell fills itself, so that the command would not get our value; a bad OPTIND even stops the shell. */
const SHELLS_OWN = new Set(['IFS', 'LINENO', 'OPTIND', 'PPID', 'SHELLOPTS', 'BASHOPTS']);

/** How the script's own variables begin: what it assigns to any other name might be a value of the command's. */
const OWN_PREFIX = `${WRAPPER_VARIABLE}_`;
const UNUSABLE_PREFIX = `${OWN_PREFIX}ODD_`;
const [SKIPPED, START] = [`${OWN_PREFIX}_`, `${OWN_PREFIX}START`];

/**
 * 1. The traps do nothing but are no "ignore", which the command would inherit: the wrapper outlives a signal to its
 *    group for as long as the command does, and then records how that ended.
 * 2. Field 22 of `stat` is the start time; there is no such file outside Linux, and then it stays empty.
 * 3. `started` is made exclusively (`-C`), so a second wrapper leaves quietly. It stays open, and whatever becomes of its
 *    name or of the disk's last free block, the exit can be recorded; the command does not get to see it.
 * 4. No record, no command: so a turn without `started` is known not to have run.
 */
const script = (file: string, unusableCount: number): string => `trap : HUP INT QUIT TERM USR1 USR2 ALRM
read -r ${`${SKIPPED} `.repeat(21)}${START} ${SKIPPED} 2>/dev/null </proc/self/stat
set -C
{ exec 9>started || exit 0; } 2>/dev/null
echo "$$ $${START}" >&9 || exit 1
cd "$1" || { echo 126 >&9; exit; }
shift
${restoreUnusable(unusableCount)}unset OLDPWD ${WRAPPER_VARIABLE}
${file.includes('/') ? RUN_DIRECTLY : RUN_FROM_PATH}
echo "$?" >&9`;

/** What has a slash is no built-in. A shell that can starts it by vfork, which costs less than the fork of a subshell. */
const RUN_DIRECTLY = '"$@" 9>&-';

/** `exec` in a subshell takes no built-in for the command, and turns what fails into a status and a line on stderr. */
const RUN_FROM_PATH = '(exec "$@" 9>&-)';

/**
 * A shell drops variables whose names it could not use itself, such as exported bash functions. They travel as values
 * (arguments are for everyone to read) and `env` puts them back; it becomes the command, so it costs no process.
 */
function restoreUnusable(count: number): string {
  if (count === 0) return '';
  const names = Array.from({ length: count }, (_, index) => `${UNUSABLE_PREFIX}${index}`);
  const values = names.map((name) => `"$${name}"`).join(' ');
  // A command with "=" in its name would be taken for one more variable.
  return `case $1 in *=*) ;; *) set -- /usr/bin/env ${values} "$@";; esac\nunset ${names.join(' ')}\n`;
}
