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
  const clean: Record<string, string> = { [WRAPPER]: '1' };
  const odd: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (/^[A-Za-z_]\w*$/.test(name) && !SHELLS_OWN.has(name)) clean[name] = value;
    else odd.push(`${name}=${value}`);
  }
  odd.forEach((pair, index) => {
    clean[`${ODD}${index}`] = pair;
  });
  const folder = isAbsolute(cwd) ? cwd : resolve(cwd);
  return { file: '/bin/sh', args: ['-c', script(odd.length), 'raymond', folder, file, ...args], env: clean };
}

/** Names that a shell fills itself, so that the command would not get our value; a bad OPTIND even stops the shell. */
const SHELLS_OWN = new Set(['IFS', 'LINENO', 'OPTIND', 'PPID', 'SHELLOPTS', 'BASHOPTS']);

const ODD = 'RAYMOND_ODD_';

/**
 * 1. `started` is made exclusively (`-C`), so a second wrapper leaves quietly.
 * 2. The traps do nothing but are no "ignore", which the command would inherit: the wrapper outlives a signal to its
 *    group for as long as the command does, and then records how that ended.
 * 3. Field 22 of `stat` is the start time; there is no such file outside Linux, and then it stays empty.
 * 4. No `pid`, no command: so a turn without that file is known not to have run.
 * 5. `exec` in a subshell takes no built-in for the command, and turns what fails into a status and a line on stderr.
 */
const script = (odd: number): string => `set -C
true 2>/dev/null >started || exit 0
trap : HUP INT QUIT TERM USR1 USR2 ALRM
read -r x x x x x x x x x x x x x x x x x x x x x start x 2>/dev/null </proc/self/stat
echo "$$ $start" >pid || exit 1
(cd "$1" || exit 126; shift; ${giveBack(odd)}unset OLDPWD ${WRAPPER}; exec "$@")
echo "$?" >exit`;

/**
 * A shell drops variables whose names it could not use itself, such as exported bash functions. They travel as values
 * (arguments are for everyone to read) and `env` puts them back; it becomes the command, so it costs no process.
 */
function giveBack(odd: number): string {
  if (odd === 0) return '';
  const names = Array.from({ length: odd }, (_, index) => `${ODD}${index}`);
  const values = names.map((name) => `"$${name}"`).join(' ');
  // A command with "=" in its name would be taken for one more variable.
  return `case $1 in *=*) ;; *) set -- /usr/bin/env ${values} "$@";; esac; unset ${names.join(' ')}; `;
}
