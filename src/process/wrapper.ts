import { isAbsolute, resolve } from 'node:path';
import { type Command, WRAPPER } from './command.ts';

/** What to spawn in a turn's folder so that a command runs, and leaves its traces, without us. */
export interface Wrapped {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Wraps a command in a shell script that uses built-ins only: an external command would double what a start costs. */
export function wrapped({ file, args, cwd, env }: Command): Wrapped {
  const clean: Record<string, string> = {};
  const odd: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (/^[A-Za-z_]\w*$/.test(name) && !SHELLS_OWN.has(name) && !name.startsWith(OURS)) clean[name] = value;
    else odd.push(`${name}=${value}`);
  }
  odd.forEach((pair, index) => {
    clean[`${ODD}${index}`] = pair;
  });
  clean[WRAPPER] = '1';
  const folder = isAbsolute(cwd) ? cwd : resolve(cwd);
  return { file: '/bin/sh', args: ['-c', script(file, odd.length), 'raymond', folder, file, ...args], env: clean };
}

/** Names that a shell fills itself, so that the command would not get our value; a bad OPTIND even stops the shell. */
const SHELLS_OWN = new Set(['IFS', 'LINENO', 'OPTIND', 'PPID', 'SHELLOPTS', 'BASHOPTS']);

/** How the script's own variables begin: what it assigns to any other name might be a value of the command's. */
const OURS = `${WRAPPER}_`;
const ODD = `${OURS}ODD_`;
const [SKIPPED, START] = [`${OURS}_`, `${OURS}START`];

/**
 * 1. The traps do nothing but are no "ignore", which the command would inherit: the wrapper outlives a signal to its
 *    group for as long as the command does, and then records how that ended.
 * 2. Field 22 of `stat` is the start time; there is no such file outside Linux, and then it stays empty.
 * 3. `started` is made exclusively (`-C`), so a second wrapper leaves quietly. It stays open, and whatever becomes of its
 *    name or of the disk's last free block, the exit can be recorded; the command does not get to see it.
 * 4. No record, no command: so a turn without `started` is known not to have run.
 */
const script = (file: string, odd: number): string => `trap : HUP INT QUIT TERM USR1 USR2 ALRM
read -r ${`${SKIPPED} `.repeat(21)}${START} ${SKIPPED} 2>/dev/null </proc/self/stat
set -C
{ exec 9>started || exit 0; } 2>/dev/null
echo "$$ $${START}" >&9 || exit 1
cd "$1" || { echo 126 >&9; exit; }
shift
${giveBack(odd)}unset OLDPWD ${WRAPPER}
${file.includes('/') ? AS_IT_IS : LOOKED_UP}
echo "$?" >&9`;

/** What has a slash is no built-in. A shell that can starts it by vfork, which costs less than the fork of a subshell. */
const AS_IT_IS = '"$@" 9>&-';

/** `exec` in a subshell takes no built-in for the command, and turns what fails into a status and a line on stderr. */
const LOOKED_UP = '(exec "$@" 9>&-)';

/**
 * A shell drops variables whose names it could not use itself, such as exported bash functions. They travel as values
 * (arguments are for everyone to read) and `env` puts them back; it becomes the command, so it costs no process.
 */
function giveBack(odd: number): string {
  if (odd === 0) return '';
  const names = Array.from({ length: odd }, (_, index) => `${ODD}${index}`);
  const values = names.map((name) => `"$${name}"`).join(' ');
  // A command with "=" in its name would be taken for one more variable.
  return `case $1 in *=*) ;; *) set -- /usr/bin/env ${values} "$@";; esac\nunset ${names.join(' ')}\n`;
}
