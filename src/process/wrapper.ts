import { isAbsolute, resolve } from 'node:path';
import { type ProcessCommand, WRAPPER_VARIABLE } from './command.ts';

/** The wrapper of a command: spawned in a turn's folder, it runs the command and records its exit without us. */
export interface WrappedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Wraps a command in a shell script that uses built-ins only: an external command would double the time of a start. The start
 * time of the wrapper is recorded where its environment may be hidden; to read it takes a third of the wrapper's time.
 */
export function wrapCommand({ file, args, cwd, env }: ProcessCommand, recordsStart = true): WrappedCommand {
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
  return {
    file: '/bin/sh',
    args: ['-c', script(file, unusable.length, recordsStart), 'raymond', folder, file, ...args],
    env: clean,
  };
}

/**
 * Variables that a shell sets itself, so that the command would not get our value; a bad OPTIND even stops the shell.
 */
const SHELLS_OWN = new Set(['IFS', 'LINENO', 'OPTIND', 'PPID', 'SHELLOPTS', 'BASHOPTS']);

/** The prefix of the script's own variables: any other name might be a variable of the command. */
const OWN_PREFIX = `${WRAPPER_VARIABLE}_`;
const UNUSABLE_PREFIX = `${OWN_PREFIX}ODD_`;
const [SKIPPED, START, FOLDER, STATUS] = ['_', 'START', 'FOLDER', 'STATUS'].map((name) => OWN_PREFIX + name);

/**
 * 1. The traps do nothing, but unlike "ignore" the command does not inherit them: the wrapper outlives a signal to its
 *    group for as long as the command does, and then records how that ended.
 * 2. Field 22 of `stat` is the start time; there is no such file outside Linux, so there it stays empty. A shell reads it byte
 *    by byte.
 * 3. `started` is made exclusively (`-C`), so a second wrapper exits quietly. It stays open: whatever happens to its
 *    name or the disk's last free block, the exit can be recorded; the command does not inherit it.
 * 4. No record, no command: so a turn without `started` is known not to have run. The exit status tells whoever is
 *    still watching.
 * 5. A shell that cannot fork exits at once, so its last act is to record that. Some try again for a while first.
 * 6. If the command failed or printed nothing, a byte is written to a file of its own, to see whether the disk is full:
 *    then its output is not all that it said. Not always, because a file more takes its time.
 */
const script = (
  file: string,
  unusableCount: number,
  recordsStart: boolean,
): string => `trap : HUP INT QUIT TERM USR1 USR2 ALRM
${recordsStart ? READ_START : `${START}=`}
set -C
{ exec 9>started || exit 0; } 2>/dev/null
{ echo "$$ $${START}" >&9 || exit ${NEVER_RAN_STATUS}; } 2>/dev/null
${FOLDER}=$PWD
cd "$1" || { echo 126 >&9; exit; }
shift
${restoreUnusable(unusableCount)}unset OLDPWD ${WRAPPER_VARIABLE}
trap 'echo unable >&9; exit ${NEVER_RAN_STATUS}' EXIT
${file.includes('/') ? RUN_DIRECTLY : RUN_FROM_PATH}
${STATUS}=$?
trap - EXIT
set +C
if { [ $${STATUS} = 0 ] && [ -s "$${FOLDER}/stdout" ]; } || [ ! -w "$${FOLDER}" ] || { echo >"$${FOLDER}/space"; } 2>/dev/null
then echo $${STATUS} >&9
else echo "$${STATUS} full" >&9
fi`;

const READ_START = `read -r ${`${SKIPPED} `.repeat(21)}${START} ${SKIPPED} 2>/dev/null </proc/self/stat`;

/** The wrapper's own exit status if it could not run the command. */
export const NEVER_RAN_STATUS = 75;

/** A name with a slash is no built-in. Some shells start it by vfork, which takes less time than forking a subshell. */
const RUN_DIRECTLY = '"$@" 9>&-';

/** `exec` in a subshell never runs a built-in, and turns a failed start into a status and a line on stderr. */
const RUN_FROM_PATH = '(exec "$@" 9>&-)';

/**
 * A shell drops variables whose names it could not use itself, such as exported bash functions. They travel as values
 * (arguments can be read by every user) and `env` puts them back; it becomes the command, so there is no extra process.
 */
function restoreUnusable(count: number): string {
  if (count === 0) return '';
  const names = Array.from({ length: count }, (_, index) => `${UNUSABLE_PREFIX}${index}`);
  const values = names.map((name) => `"$${name}"`).join(' ');
  // `env` would take a command with "=" in its name for one more variable.
  return `case $1 in *=*) ;; *) set -- /usr/bin/env ${values} "$@";; esac\nunset ${names.join(' ')}\n`;
}
