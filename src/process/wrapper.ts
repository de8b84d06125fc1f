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
export function wrapCommand(command: ProcessCommand, recordsStart = true): WrappedCommand {
  const { env, unusableCount } = wrapperEnvironment(command);
  const begin = recordsStart ? READ_START : `${START}=`;
  const code = [TRAP, begin, restOfScript(command.file, unusableCount)].join('\n');
  return { file: '/bin/sh', args: ['-c', code, 'raymond', ...messagesFor(command)], env };
}

/** A wrapper that waits for its command. */
export interface WaitingWrapper extends WrappedCommand {
  /** The text that it reads from its stdin before it waits. */
  readonly script: string;
  readonly words: readonly string[];
  readonly unusableCount: number;
}

/**
 * Wraps a command that is not known yet: the wrapper waits for a line of its stdin, and is gone without one. It is told only
 * how that command differs from this one. That line is part of its script, because some shells read their script in blocks,
 * but what `read` takes byte by byte.
 */
export function wrapLater(likely: ProcessCommand): WaitingWrapper {
  const { env, unusableCount } = wrapperEnvironment(likely);
  const words = messagesFor(likely);
  // Without its words, the line was cut off before its end.
  const body = ['[ $# -gt 1 ] || exit 0', restOfScript(likely.file, unusableCount), 'exit'].join('\n');
  const script = `${TRAP}\n${RUN}() {\n${body}\n}\n`;
  return { file: '/bin/sh', args: ['-s', ...words], env, script, words, unusableCount };
}

/** Other shells read their script byte by byte, too: beyond this, a new wrapper takes less time. */
const MAX_LINE_CHARS = 1_500;

/**
 * The line that lets a waiting wrapper run this command in a turn's folder, and record its start time; undefined if it cannot be
 * told so. The command comes last: a line that is not whole runs nothing, and its writer is gone. The output is opened right before it,
 * because a line that ends after `export` prints the environment.
 */
export function lineForWrapper(
  waiting: WaitingWrapper,
  { dir, command, start }: { readonly dir: string; readonly command: ProcessCommand; readonly start: string },
): string | undefined {
  const { env, unusableCount } = wrapperEnvironment(command);
  const words = messagesFor(command);
  const changed = Object.keys(env).filter((name) => env[name] !== waiting.env[name]);
  const removed = Object.keys(waiting.env).filter((name) => !Object.hasOwn(env, name));
  if (unusableCount !== waiting.unusableCount || changed.some((name) => name.startsWith(OWN_PREFIX))) return undefined;
  const line = [
    `${START}=${start}`,
    ...(isEqual(words, waiting.words) ? [] : [`set -- ${words.map(quote).join(' ')}`]),
    ...(changed.length === 0 ? [] : [`export ${changed.map((name) => `${name}=${quote(env[name] ?? '')}`).join(' ')}`]),
    ...(removed.length === 0 ? [] : [`unset ${removed.join(' ')}`]),
    `cd ${quote(dir)} && exec </dev/null >>stdout 2>>stderr && ${RUN} "$@" || exit 0`,
  ].join(' && ');
  // Not every shell reads all other bytes as they are.
  return line.length <= MAX_LINE_CHARS && /^[ -~]*$/.test(line) ? line : undefined;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const isEqual = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((each, index) => each === others[index]);

/** The folder and the words of a command. */
const messagesFor = ({ file, args, cwd }: ProcessCommand): readonly string[] => [
  isAbsolute(cwd) ? cwd : resolve(cwd),
  file,
  ...args,
];

/** The environment of a wrapper, in which a shell can use every name. */
function wrapperEnvironment({ env }: ProcessCommand): {
  readonly env: Readonly<Record<string, string>>;
  readonly unusableCount: number;
} {
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
  return { env: clean, unusableCount: unusable.length };
}

/**
 * Variables that a shell sets itself, so that the command would not get our value; a bad OPTIND even stops the shell.
 */
const SHELLS_OWN = new Set(['IFS', 'LINENO', 'OPTIND', 'PPID', 'SHELLOPTS', 'BASHOPTS']);

/** The prefix of the script's own variables: any other name might be a variable of the command. */
const OWN_PREFIX = `${WRAPPER_VARIABLE}_`;
const UNUSABLE_PREFIX = `${OWN_PREFIX}ODD_`;
const [SKIPPED, START, FOLDER, STATUS, RUN] = ['_', 'START', 'FOLDER', 'STATUS', 'RUN'].map(
  (name) => OWN_PREFIX + name,
);

/**
 * 1. The traps do nothing, but unlike "ignore" the command does not inherit them: the wrapper outlives a signal to its
 *    group for as long as the command does, and then records how that ended.
 * 2. Field 22 of `stat` is the start time; there is no such file outside Linux, so there it stays empty. A shell reads it byte
 *    by byte.
 * 3. `started` is made exclusively (`-C`), so a second wrapper exits quietly. It stays open: whatever happens to its
 *    name or the disk's last free block, the exit can be recorded; the command does not inherit it.
 * 4. No record, no command: so a turn without `started` is known not to have run. The exit status tells the process that is
 *    still watching.
 * 5. A shell that cannot fork exits at once, so its last act is to record that. Some try again for a while first.
 * 6. If the command failed or printed nothing, a byte is written to a file of its own, to see whether the disk is full:
 *    then its output is not all that it said. Not always, because a file more takes its time.
 */
const restOfScript = (file: string, unusableCount: number): string => `set -C
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

const TRAP = 'trap : HUP INT QUIT TERM USR1 USR2 ALRM';

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
