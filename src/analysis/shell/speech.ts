import { TAG_NAMES } from '../../core/transitions/index.ts';
import { type Half, type Mention, type Mentions, readMentions, UNKNOWN } from '../mentions.ts';
import type { Redirect } from './command.ts';
import { type Cut, Cutter, sourceOf } from './cut.ts';
import { formatted } from './format.ts';
import type { Word } from './word.ts';

/** What one command writes to its standard output, as far as its words say. Offsets are those of the script. */
export interface Speech {
  readonly tags: readonly Mention[];
  readonly halves: readonly Half[];
  /** The texts in which they were found. */
  readonly texts: readonly Cut[];
  /** Whether the tags are printed for certain; otherwise the command only knows of them. */
  readonly sure: boolean;
  /** Whether it may well print a tag that cannot be seen here. */
  readonly perhaps: boolean;
  /** Whether it is a program that we know nothing about. */
  readonly foreign: boolean;
}

/** What a command says that has these words: assignments, a name, arguments. */
export function speechOf(words: readonly Word[], redirects: readonly Redirect[]): Speech {
  const speech = KNOWN.get(words) ?? listen(words, redirects);
  KNOWN.set(words, speech);
  return speech;
}

/** Each command is listened to from several sides. */
const KNOWN = new WeakMap<readonly Word[], Speech>();

function listen(words: readonly Word[], redirects: readonly Redirect[]): Speech {
  const { name, args } = nameOf(words);
  const documents = redirects.flatMap(({ op, to, document }) => document ?? (op === '<<<' ? to : []));
  if (name === 'echo') return printed(args);
  if (name === 'printf') return printedBy(args);
  if (name === 'cat' && documents.length > 0 && args.every(({ text }) => text === '-')) return printed(documents);
  if (isSilent(name, args[0]?.text)) return SILENT;
  const texts = [...words, ...documents];
  const known = texts.map(mentionsIn);
  const tags = known.flatMap((each) => each.tags);
  const speaks = name !== '' && (tags.length > 0 || SPEAKERS.test(name));
  const foreign = name !== '' && !isQuiet(name, args[0]?.text);
  if (name !== '' && !foreign && !speaks) return SILENT;
  return { tags, halves: known.flatMap(({ halves }) => halves), texts, sure: false, perhaps: speaks, foreign };
}

/** The name of a command behind its assignments, empty if there is none. */
export function nameOf(words: readonly Word[]): { readonly name: string; readonly args: readonly Word[] } {
  const first = words.findIndex(({ text }) => !/^\w+(?:\[[^\]]*\])?\+?=/.test(text));
  if (first === -1) return { name: '', args: [] };
  const [name = '', next = '-'] = [words[first]?.text, words[first + 1]?.text];
  const isPrefix = (name === 'command' || name === 'builtin') && !next.startsWith('-');
  return isPrefix ? nameOf(words.slice(first + 1)) : { name, args: words.slice(first + 1) };
}

/** Whether the standard output goes to a file or to the standard error, where nobody looks for tags. */
export function goesElsewhere(redirects: readonly Redirect[]): boolean {
  return redirects.some(({ op, fd, to }) => {
    if (fd !== '' && fd !== '1') return false;
    if (op === '>&') return to.text !== '1';
    return /^(?:>|>>|>\||&>|&>>)$/.test(op) && !/^\/dev\/(?:stdout|fd\/1)$/.test(to.text);
  });
}

/** Whether a look at the text is no longer enough: another program takes over, or something is printed at the end. */
export function leavesTheText(words: readonly Word[], redirects: readonly Redirect[]): boolean {
  const { name, args } = nameOf(words);
  if (name === 'trap') return args.some(({ text }) => /[<\uE000]|echo|printf/.test(text));
  // Who kills somebody may well mean the script.
  return name === 'kill' || (name === 'exec' && (args.length > 0 || goesElsewhere(redirects)));
}

/** What a `trap` calls. */
export function trapped(words: readonly Word[]): readonly string[] {
  const { name, args } = nameOf(words);
  return name === 'trap' ? (args[0]?.text.split(/[\s;&|]+/) ?? []) : [];
}

const SILENT: Speech = { tags: [], halves: [], texts: [], sure: false, perhaps: false, foreign: false };

/** Programs that print what they are given, or whatever the script behind them likes; also any name that is not known. */
const SPEAKERS = new RegExp(
  `[/${UNKNOWN}]|^(?:eval|cat|tac|head|tail|tee|sed|awk|gawk|jq|yq|envsubst|xargs|env|timeout|bash|sh|zsh|python[\\d.]*|node|deno|bun|ruby|perl|php|claude)$`,
);

/** Commands that print nothing of what they are given. */
const SILENT_ONES = new Set(
  `[ [[ (( : true false test cd mkdir rmdir rm cp mv ln touch chmod chown sleep export local declare typeset readonly
  unset read shift set shopt wait kill let pushd popd umask mktemp return break continue exit sync trap source . grep
  egrep fgrep rg`.split(/\s+/),
);

/** Programs of which nobody expects a tag, unless one is given to them. */
const QUIET_ONES = new Set(
  `date ls wc find sort uniq tr cut basename dirname tar gzip gunzip zip unzip rsync diff cmp stat seq du df git cargo
  pytest tsc flock pwd whoami hostname uname which command type`.split(/\s+/),
);
const QUIET_WITH: Readonly<Record<string, readonly string[]>> = {
  npm: ['test', 't', 'ci', 'install', 'i'],
  go: ['build', 'test', 'vet'],
};

/** What is written into a commit is not printed. */
const isSilent = (name: string, first = ''): boolean =>
  SILENT_ONES.has(name) || (name === 'git' && /^(?:commit|notes|add|push|merge)$/.test(first));

const isQuiet = (name: string, first = ''): boolean =>
  isSilent(name, first) ||
  QUIET_ONES.has(name) ||
  (Object.hasOwn(QUIET_WITH, name) && (QUIET_WITH[name] ?? []).includes(first));

/** The beginning or the end of a tag, the rest of which other commands print. */
const PIECE = new RegExp(`</?(?:${TAG_NAMES.join('|')})\\b|</?[a-z]*$`, 'i');

/** What is printed in one piece. An expansion by itself, or one inside a tag, may be or become anything. */
function printed(cuts: readonly Cut[]): Speech {
  const whole = joined(cuts);
  const { text } = whole;
  const { tags, halves } = mentionsIn(whole);
  const bare = text.replaceAll(UNKNOWN, '').trim() === '';
  const unknown = text.includes(UNKNOWN) && (bare || text.includes('<'));
  const perhaps = tags.length === 0 && (unknown || PIECE.test(text));
  return { tags, halves, texts: [whole], sure: true, perhaps, foreign: false };
}

/** The format of a `printf` may come behind a `--`. */
function printedBy(args: readonly Word[]): Speech {
  const [format, ...values] = args[0]?.text === '--' ? args.slice(1) : args;
  return format === undefined || format.text === '-v' ? SILENT : printed([formatted(format, values)]);
}

/** The tags in a text of a script. */
function mentionsIn(cut: Cut): Mentions {
  const { tags, halves } = readMentions(cut.text);
  const moved = <T extends { offset: number }>(found: T): T => ({ ...found, offset: sourceOf(cut, found.offset) });
  return { tags: tags.map(moved), halves: halves.map(moved) };
}

function joined(cuts: readonly Cut[]): Cut {
  const [only, second] = cuts;
  if (only !== undefined && second === undefined) return only;
  const whole = new Cutter();
  for (const [index, cut] of cuts.entries()) {
    if (index > 0) whole.add(' ', sourceOf(cut, 0));
    whole.append(cut);
  }
  return whole;
}
