import { readTagMentions, type TagMention, UNKNOWN, type UnclosedMention } from '../language/tags/tag-mentions.ts';
import { AbstractInterpreter } from './abstract-interpreter.ts';
import { readCommandOutput } from './command-output.ts';
import { expandTags } from './expanded-tags.ts';
import { succeedWith, type WastedTag } from './outcomes.ts';
import { type CommandList, parseScript, pipelinesOf } from './parse.ts';
import { findPrintedTags, joinOutputs, NOTHING_PRINTED, type PathOutput, type PathOutputs } from './path-outputs.ts';
import { isSimple, isTestCommand, readSimpleCommand } from './simple-command.ts';
import { VariableValues } from './variable-values.ts';
import { findStdoutCommands, listCommands, listSimpleCommands, type PlacedCommand, rearrangesOutput } from './walk.ts';

/** The possible output of a script, as far as its text shows it. */
export interface ScriptTags {
  /** The tags that it may print; those that are not `sure` are only written in it. */
  readonly tags: readonly SureMention[];
  /** The same tags with the values of variables put in, as far as the script shows them. */
  readonly expandedTags: readonly SureMention[];
  /** The tags that it opens and never closes. */
  readonly unclosedTags: readonly (UnclosedMention & { readonly sure: boolean })[];
  /** The output on each path; undefined if the paths are unknown. */
  readonly paths: ScriptPaths | undefined;
  /** True if it may print tags that its text does not show. */
  readonly open: boolean;
}

/** A tag in a state's file. */
export interface SureMention extends TagMention {
  /** True if it is meant as an answer; a script may also search for a tag, and a prompt show one as an example. */
  readonly sure: boolean;
  /** True if a script builds it from the values of its variables. */
  readonly filled?: boolean;
}

/** Reads the tags of a script: bash, a batch file or PowerShell. */
export function readScriptTags(file: string, text: string): ScriptTags {
  return file.endsWith('.sh') ? readShellScript(text) : readWindowsScript(file, text);
}

function readShellScript(text: string): ScriptTags {
  const script = parseScript(text)?.commands;
  if (script === undefined) return { ...readUnparsed(withoutComments(text, /^[ \t]*#.*$/gm), false), open: true };
  const all = listSimpleCommands(script);
  const sure = findStdoutCommands(all);
  const values = new VariableValues(script, text);
  const outputs = all.filter(keepsStdout).map((placed) => {
    const output = readCommandOutput(placed.command);
    const isSure = output.sure && sure.has(placed);
    const withSure = <T extends object>(tags: readonly T[]) => tags.map((tag) => ({ ...tag, sure: isSure }));
    return {
      tags: withSure(output.tags),
      expandedTags: withSure(expandTags(output, placed.context, values)),
      unclosedTags: withSure(output.unclosedTags),
      isUnknownProgram: output.isUnknownProgram,
    };
  });
  const captured = readCapturedTags(all);
  const tags = [...outputs.flatMap((output) => output.tags), ...captured];
  const expandedTags = [...outputs.flatMap((output) => output.expandedTags), ...captured];
  const unclosedTags = outputs.flatMap((output) => output.unclosedTags);
  const paths = rearrangesOutput(all) ? undefined : findScriptPaths(script, values);
  const foreign = tags.length === 0 && unclosedTags.length === 0 && outputs.some((each) => each.isUnknownProgram);
  const open = foreign || paths === undefined || paths.outputs.some(({ kind }) => kind === 'unknown');
  return { tags, expandedTags, unclosedTags, paths, open };
}

const keepsStdout = ({ context }: PlacedCommand): boolean => context.keepsStdout;

/** The tags in the substitutions of these commands: they are captured, and printed only if something prints them. */
const readCapturedTags = (commands: readonly PlacedCommand[]): readonly SureMention[] =>
  commands
    .filter(keepsStdout)
    .flatMap(({ command }) => command.words.flatMap(({ substitutions }) => substitutions))
    .flatMap(({ at, text }) =>
      readTagMentions(text).tags.map((tag) => ({ ...tag, offset: at + tag.offset, sure: false })),
    );

const BATCH_COMMENT = /^[ \t]*@?(?:rem\b|::).*$/gim;
const POWERSHELL_COMMENT = /<#[\s\S]*?#>|^[ \t]*#.*$/gm;

/** Batch files and PowerShell are searched for tags; their paths are not followed. */
function readWindowsScript(file: string, text: string): ScriptTags {
  if (file.endsWith('.ps1')) {
    const code = withoutComments(text, POWERSHELL_COMMENT).replaceAll('`', ' ');
    const filled = code.replace(/\$(?:\([^)\n]*\)|\{[^}\n]*\}|[\w:]+)/g, (found) => UNKNOWN.repeat(found.length));
    return readUnparsed(filled, true);
  }
  const code = withoutComments(text, BATCH_COMMENT).replace(/%%?~?\w+%?|![\w]+!/g, (v) => UNKNOWN.repeat(v.length));
  // A caret makes the next character an ordinary one: `^<goto^>`. The characters keep their offsets.
  const offsets = [...code.matchAll(/\^?([\s\S])/g)].map((found) => found.index + found[0].length - 1);
  const reading = readUnparsed(offsets.map((offset) => code[offset]).join(''), true);
  const withOriginalOffset = <T extends { offset: number }>(found: T): T => ({
    ...found,
    offset: offsets[found.offset] ?? 0,
  });
  const tags = reading.tags.map(withOriginalOffset);
  return { ...reading, tags, expandedTags: tags, unclosedTags: reading.unclosedTags.map(withOriginalOffset) };
}

/** Finds the tags in a text whose commands are not known. */
function readUnparsed(text: string, sure: boolean): ScriptTags {
  const { tags, unclosedTags } = readTagMentions(text);
  const all = tags.map((tag) => ({ ...tag, sure }));
  return {
    tags: all,
    expandedTags: all,
    unclosedTags: unclosedTags.map((tag) => ({ ...tag, sure })),
    paths: undefined,
    open: tags.length === 0,
  };
}

const withoutComments = (text: string, comment: RegExp): string =>
  text.replace(comment, (found) => found.replace(/[^\n]/g, ' '));

/** All paths through a script. */
interface ScriptPaths {
  /** The output on each path that succeeds. */
  readonly outputs: readonly PathOutput[];
  /** The tags that it prints before it fails, which are not read. */
  readonly wastedTags: readonly WastedTag[];
}

/** A longer chain of `&&` and `||` is not followed: what decides about each of its commands is all that is before it. */
const MAX_CHAIN = 200;

/** Finds the paths through a script; undefined if they are unknown. */
export function findScriptPaths(script: CommandList, values: VariableValues): ScriptPaths | undefined {
  if (listCommands(script).some(({ context }) => context.preceding.length > MAX_CHAIN)) return undefined;
  const interpreter = new AbstractInterpreter(script, values);
  const { ok, no } = interpreter.runList(script, succeedWith(NOTHING_PRINTED));
  const { gaveUp, exits } = interpreter.state;
  if (gaveUp) return undefined;
  const outputs = [...joinOutputs(exits.successOutputs, ok, no).values()];
  return { outputs, wastedTags: [...exits.wastedTags, ...findTagsWastedByLastTest(script.at(-1), no)] };
}

/** A test at the very end that guards something, as in `[ -f tmp ] && rm tmp`, makes the script fail if it is not so. */
function findTagsWastedByLastTest(last: CommandList[number] | undefined, no: PathOutputs): readonly WastedTag[] {
  const { commands, operators } = last === undefined ? { commands: [], operators: [] } : pipelinesOf(last);
  const [guard] = commands;
  if (guard === undefined || operators.length === 0 || operators.includes('||')) return [];
  if (guard.type === 'Pipeline' || guard.type === 'Redirected' || !isSimple(guard)) return [];
  const { name } = readSimpleCommand(guard);
  if (!isTestCommand(name) && name !== '((') return [];
  return findPrintedTags(no, []).map(({ at }) => ({ tag: at, end: guard.pos, by: 'test' }));
}
