import { TAG_NAMES } from '../../core/transitions/index.ts';
import { type Half, type Mention, readMentions, UNKNOWN } from '../mentions.ts';
import type { Redirect } from './command.ts';
import { type Cut, sourceOf, type Word } from './word.ts';

/** What one command writes to its standard output, as far as its words say. Offsets are those of the script. */
export interface Speech {
  readonly tags: readonly Mention[];
  readonly halves: readonly Half[];
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
  if (name === 'printf') return args[0]?.text === '-v' ? SILENT : printed(args.map(withoutDirectives));
  if (name === 'cat' && documents.length > 0 && args.every(({ text }) => text === '-')) return printed(documents);
  const foreign = name !== '' && !isSilent(name, args[0]?.text);
  if (name !== '' && !foreign) return SILENT;
  const known = [...words, ...documents].map(mentionsIn);
  return {
    tags: known.flatMap(({ tags }) => tags),
    halves: known.flatMap(({ halves }) => halves),
    sure: false,
    perhaps: SPEAKERS.test(name),
    foreign,
  };
}

/** The name of a command behind its assignments, empty if there is none. */
export function nameOf(words: readonly Word[]): { readonly name: string; readonly args: readonly Word[] } {
  const first = words.findIndex(({ text }) => !/^\w+(?:\[[^\]]*\])?\+?=/.test(text));
  return first === -1 ? { name: '', args: [] } : { name: words[first]?.text ?? '', args: words.slice(first + 1) };
}

/** Whether the standard output goes to a file or to the standard error, where nobody looks for tags. */
export function goesElsewhere(redirects: readonly Redirect[]): boolean {
  return redirects.some(({ op, fd, to }) => {
    if (fd !== '' && fd !== '1') return false;
    if (op === '>&') return to.text !== '1';
    return /^(?:>|>>|>\||&>|&>>)$/.test(op) && !/^\/dev\/(?:stdout|fd\/1)$/.test(to.text);
  });
}

const SILENT: Speech = { tags: [], halves: [], sure: false, perhaps: false, foreign: false };

/** Programs that print what they are given, or whatever the script behind them likes; also any name that is not known. */
const SPEAKERS = new RegExp(
  `[/${UNKNOWN}]|^(?:eval|cat|tac|head|tail|tee|sed|awk|gawk|jq|yq|envsubst|xargs|env|timeout|bash|sh|zsh|python[\\d.]*|node|deno|bun|ruby|perl|php|claude)$`,
);

/** Programs of which nobody expects a tag. */
const NEVER_TAGS = new Set(
  `[ [[ (( : true false test cd mkdir rmdir rm cp mv ln touch chmod chown sleep export local declare typeset readonly
  unset read shift set shopt wait kill let pushd popd umask mktemp date ls wc grep egrep fgrep rg find sort uniq tr cut
  basename dirname tar gzip gunzip zip unzip rsync diff cmp stat seq du df git cargo pytest tsc return break continue
  exit sync flock pwd whoami hostname uname which command type trap source .`.split(/\s+/),
);
const NEVER_TAGS_WITH: Readonly<Record<string, readonly string[]>> = {
  npm: ['test', 't', 'ci', 'install', 'i'],
  go: ['build', 'test', 'vet'],
};

const isSilent = (name: string, first = ''): boolean =>
  NEVER_TAGS.has(name) || (Object.hasOwn(NEVER_TAGS_WITH, name) && (NEVER_TAGS_WITH[name] ?? []).includes(first));

/** The beginning or the end of a tag, the rest of which other commands print. */
const PIECE = new RegExp(`</?(?:${TAG_NAMES.join('|')})\\b|</?[a-z]*$`, 'i');

/** What is printed in one piece. An expansion by itself, or one inside a tag, may be or become anything. */
function printed(cuts: readonly Cut[]): Speech {
  const { tags, halves, text } = mentionsIn(joined(cuts));
  const bare = text.replaceAll(UNKNOWN, '').trim() === '';
  const unknown = text.includes(UNKNOWN) && (bare || text.includes('<'));
  const perhaps = tags.length === 0 && (unknown || PIECE.test(text));
  return { tags, halves, sure: true, perhaps, foreign: false };
}

function mentionsIn(cut: Cut) {
  const { tags, halves } = readMentions(cut.text);
  const moved = <T extends { offset: number }>(found: T): T => ({ ...found, offset: sourceOf(cut, found.offset) });
  return { text: cut.text, tags: tags.map(moved), halves: halves.map(moved) };
}

function joined(cuts: readonly Cut[]): Cut {
  const [only, second] = cuts;
  if (only !== undefined && second === undefined) return only;
  const pieces: (readonly [number, number])[] = [];
  let text = '';
  for (const cut of cuts) {
    const begin = text === '' ? 0 : text.length + 1;
    for (const [at, source] of cut.pieces) pieces.push([begin + at, source]);
    text = text === '' ? cut.text : `${text} ${cut.text}`;
  }
  return { text, pieces };
}

/** `%s` is as unknown as `$x`, and `\n` is a blank as far as tags go. */
function withoutDirectives({ text, pieces }: Cut): Cut {
  const filled = text.replace(/%[-+ #0-9.*]*[a-zA-Z]/g, (directive) => UNKNOWN.repeat(directive.length));
  return { text: filled.replace(/\\[nrt]/g, '  '), pieces };
}
