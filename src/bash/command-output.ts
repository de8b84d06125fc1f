import {
  readTagMentions,
  type TagMention,
  type TagMentions,
  UNKNOWN,
  type UnclosedMention,
} from '../language/tags/tag-mentions.ts';
import { memoize } from '../language/text/memoize.ts';
import { TAG_WORDS } from '../language/transitions/index.ts';
import { type MappedText, MappedTextBuilder, sliceMappedText, toSourceOffset } from './mapped-text.ts';
import type { Redirect, SimpleCommand } from './simple-command.ts';

/** The standard output of one command, as far as its words show it, with offsets into the script. */
export interface CommandOutput {
  readonly tags: readonly TagMention[];
  /** Tags that are opened and not closed. */
  readonly unclosedTags: readonly UnclosedMention[];
  /** The texts in which they were found. */
  readonly texts: readonly MappedText[];
  /** True if the tags are certainly printed; otherwise they are only among its words. */
  readonly sure: boolean;
  /** True if it may print a tag that its words do not show. */
  readonly mayPrintUnknown: boolean;
  /** True if nothing is known about the program. */
  readonly isUnknownProgram: boolean;
}

/** Reads what a command prints. */
export const readCommandOutput = memoize(({ name, args, words, redirects }: SimpleCommand): CommandOutput => {
  const documents = redirects.flatMap(({ operator, target }) => (operator.startsWith('<<') ? target : []));
  if (name === 'echo') return readPrintedTexts(args);
  if (name === 'printf') return readPrintf(args);
  if (name === 'cat' && documents.length > 0 && args.every(({ text }) => text === '-'))
    return readPrintedTexts(documents);
  if (isSilent(name, args[0]?.text)) return NO_OUTPUT;
  const texts = [...words, ...documents];
  const mentions = texts.map(locateTags);
  const tags = mentions.flatMap((each) => each.tags);
  const mayPrint = name !== '' && (tags.length > 0 || PRINTING_PROGRAMS.test(name));
  const isUnknownProgram = name !== '' && !TAGLESS_PROGRAMS.has(name);
  if (name !== '' && !isUnknownProgram && !mayPrint) return NO_OUTPUT;
  return {
    tags,
    unclosedTags: mentions.flatMap(({ unclosedTags }) => unclosedTags),
    texts,
    sure: false,
    mayPrintUnknown: mayPrint,
    isUnknownProgram,
  };
});

/** True if the standard output goes to a file or to the standard error, where no tags are read. */
export function redirectsStdout(redirects: readonly Redirect[]): boolean {
  return redirects.some(({ operator, descriptor, target: { text } }) => {
    if (descriptor !== '' && descriptor !== '1') return false;
    if (operator === '>&') return text !== '1';
    return /^(?:>|>>|>\||&>|&>>)$/.test(operator) && !/^\/dev\/(?:stdout|fd\/1)$/.test(text);
  });
}

/** True if a command makes the output of its script unknown: another program takes over, or a trap prints at the end. */
export function escapesAnalysis({ name, args, redirects }: SimpleCommand): boolean {
  if (name === 'trap') return args.some(({ text }) => /[<\uE000]|echo|printf/.test(text));
  // The process that is killed may well be the script.
  return name === 'kill' || (name === 'exec' && (args.length > 0 || redirectsStdout(redirects)));
}

/** The commands that a `trap` names. */
export const readTrapHandlers = ({ name, args }: SimpleCommand): readonly string[] =>
  name === 'trap' ? (args[0]?.text.split(/[\s;&|]+/) ?? []) : [];

const NOTHING_SURE = { tags: [], unclosedTags: [], texts: [], sure: false };
const NO_OUTPUT: CommandOutput = { ...NOTHING_SURE, mayPrintUnknown: false, isUnknownProgram: false };

/** Programs that print what they are given or run other scripts; also paths, and names that are not known. */
const PRINTING_PROGRAMS = new RegExp(
  `[/${UNKNOWN}]|^(?:eval|cat|tac|head|tail|tee|sed|awk|gawk|jq|yq|envsubst|xargs|env|timeout|bash|sh|zsh|python[\\d.]*|node|deno|bun|ruby|perl|php|claude)$`,
);

/** Commands that print none of their arguments. */
const SILENT_COMMANDS = new Set(
  `[ [[ (( : true false test cd mkdir rmdir rm cp mv ln touch chmod chown sleep export local declare typeset readonly
  unset read shift set shopt wait kill let pushd popd umask mktemp return break continue exit sync trap source . grep
  egrep fgrep rg`.split(/\s+/),
);

/** Programs that print no tag, unless one is among their arguments. */
const TAGLESS_PROGRAMS = new Set(
  `date ls wc find sort uniq tr cut basename dirname tar gzip gunzip zip unzip rsync diff cmp stat seq du df git cargo
  pytest tsc flock pwd whoami hostname uname which command type`.split(/\s+/),
);

/** Git does not print the messages that it is given. */
const isSilent = (name: string, first = ''): boolean =>
  SILENT_COMMANDS.has(name) || (name === 'git' && /^(?:commit|notes|add|push|merge)$/.test(first));

/** The beginning or the end of a tag, the rest of which other commands print. */
const PARTIAL_TAG = new RegExp(`</?(?:${TAG_WORDS.join('|')})\\b|</?[a-z]*$`, 'i');

/** Reads texts that are printed side by side. An expansion by itself, or one inside a tag, may become any tag. */
function readPrintedTexts(texts: readonly MappedText[]): CommandOutput {
  const combined = joinTexts(texts);
  const { text } = combined;
  const { tags, unclosedTags } = locateTags(combined);
  const isOnlyUnknown = text.replaceAll(UNKNOWN, '').trim() === '';
  const mayBecomeTag = text.includes(UNKNOWN) && (isOnlyUnknown || text.includes('<'));
  const mayPrintUnknown = tags.length === 0 && (mayBecomeTag || PARTIAL_TAG.test(text));
  return { tags, unclosedTags, texts: [combined], sure: true, mayPrintUnknown, isUnknownProgram: false };
}

/** Reads a `printf`; its format may come behind a `--`. */
function readPrintf(args: readonly MappedText[]): CommandOutput {
  const [format, ...values] = args[0]?.text === '--' ? args.slice(1) : args;
  return format === undefined || format.text === '-v' ? NO_OUTPUT : readPrintedTexts([formatPrintf(format, values)]);
}

/** Finds the tags in a text and their offsets in the script. */
function locateTags(text: MappedText): TagMentions {
  const { tags, unclosedTags } = readTagMentions(text.text);
  const toSource = <T extends { offset: number }>(found: T): T => ({
    ...found,
    offset: toSourceOffset(text, found.offset),
  });
  return { tags: tags.map(toSource), unclosedTags: unclosedTags.map(toSource) };
}

function joinTexts(texts: readonly MappedText[]): MappedText {
  const [only, second] = texts;
  if (only !== undefined && second === undefined) return only;
  const combined = new MappedTextBuilder();
  for (const [index, text] of texts.entries()) {
    if (index > 0) combined.add(' ', toSourceOffset(text, 0));
    combined.append(text);
  }
  return combined;
}

const FORMAT_DIRECTIVE = /%%|%[-+ #0-9.*]*[a-zA-Z]|\\[nrt]/g;

/** Formats as `printf` does: the format is used again while there are values left. */
function formatPrintf(format: MappedText, values: readonly MappedText[]): MappedText {
  const text = new MappedTextBuilder();
  // An unknown part may become several values, or none.
  const isCountKnown = values.every((value) => !value.text.includes(UNKNOWN));
  let remaining = [...values];
  let before: number;
  do {
    before = remaining.length;
    remaining = applyFormat(format, remaining, text, isCountKnown ? '' : UNKNOWN);
  } while (remaining.length > 0 && remaining.length < before);
  return text;
}

/** Adds the format with its values, or a substitute for missing ones; returns the values that are left. */
function applyFormat(format: MappedText, values: readonly MappedText[], text: MappedTextBuilder, missing: string) {
  const remaining = [...values];
  let from = 0;
  for (const { 0: found, index } of format.text.matchAll(FORMAT_DIRECTIVE)) {
    text.append(sliceMappedText(format, from, index));
    from = index + found.length;
    const source = toSourceOffset(format, index);
    if (found === '%%') text.add('%', source);
    // A line break is a blank as far as tags go.
    else if (found.startsWith('\\')) text.add(' ', source);
    else text.append(remaining.shift() ?? { text: missing, pieces: [[0, source]], placeholders: [] });
  }
  text.append(sliceMappedText(format, from));
  return remaining;
}
