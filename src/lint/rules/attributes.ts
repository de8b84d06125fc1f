import { findForkContinuations } from '../../graph/edges.ts';
import type { PlacedTag, StateAnalysis } from '../../graph/state-analysis.ts';
import { BUILT_IN_ATTRIBUTES, type BuiltInAttribute, isBuiltInAttribute, type Tag } from '../../language/tags/tag.ts';
import { hasUnknownPart, UNKNOWN } from '../../language/tags/tag-mentions.ts';
import { didYouMean, nearest } from '../../language/text/nearest.ts';
import { comparePositions, type TextPosition } from '../../language/text/text.ts';
import {
  isAttributeWord,
  isContinuation,
  isWorkflowTag,
  startsWorkers,
  TAG_NAMES,
  type TagName,
  TRANSITIONS,
  takesAttribute,
} from '../../language/transitions/index.ts';
import type { Transition } from '../../language/transitions/transition.ts';
import { variableNameProblem } from '../../language/variable-names.ts';
import { NO_TEMPLATE_HINT, quoteTag } from '../messages.ts';
import { defineStateRule, defineTagRule, type LintLevel } from '../rule.ts';

/** An attribute has a value that it cannot have, or a name that no variable can have. */
export const badAttribute = defineTagRule(
  { id: 'bad-attribute', level: 'error' },
  ({ name, tag }, { kind }, { workflow }) => {
    const { variables, findProblem }: Transition = TRANSITIONS[name];
    // Values known only at run time are not judged.
    const isKnown = !Object.values(tag.attributes).some(hasUnknownPart);
    const ownProblem = isKnown ? findProblem?.({ attributes: tag.attributes, body: tag.body || '…' }) : undefined;
    const isTwice = tag.attributes.cd !== undefined && isAttributeWord(name, 'worktree', tag.attributes.worktree);
    const twofold = isTwice
      ? [
          {
            message: '`cd` and `worktree` exclude each other',
            hint: 'Leave one out: a worktree is a folder of its own.',
          },
        ]
      : [];
    const own =
      ownProblem === undefined ? [] : [{ message: ownProblem, hint: 'Correct it: no answer with it is followed.' }];
    const ofAttributes = Object.entries(tag.attributes).flatMap(([key, value]) => {
      if (!isBuiltInAttribute(name, key)) {
        const message = variables && !key.includes(UNKNOWN) ? variableNameProblem(key, workflow.platform) : undefined;
        return message === undefined ? [] : [{ message, hint: 'Rename it here and where it is used.' }];
      }
      if (!takesAttribute(name, key)) return [];
      if (key === 'cd' && kind === 'script' && value.includes('{{') && !value.includes(UNKNOWN)) {
        return [{ message: `there is no folder \`${value}\``, hint: NO_TEMPLATE_HINT }];
      }
      if (hasUnknownPart(value)) return [];
      if (key === 'stack' && value !== 'clear' && value !== 'keep') {
        const message = `\`stack\` can be "clear" or "keep", not "${value}"`;
        return [{ message, hint: 'Write one of them, or leave it out.' }];
      }
      const isEmpty = NEVER_EMPTY.includes(key) && value.trim() === '';
      return isEmpty ? [{ message: `\`${key}\` is empty`, hint: 'Give it a value, or leave it out.' }] : [];
    });
    return [...own, ...twofold, ...ofAttributes];
  },
);

const NEVER_EMPTY = ['model', 'effort'];

/** An attribute has no effect: it is a variable on another tag than a fork, or given twice; or it makes no worktree. */
export const ignoredAttribute = defineTagRule(
  { id: 'ignored-attribute', level: 'warning' },
  ({ name, tag }, { names }) => {
    const { variables, attributes, required, body } = TRANSITIONS[name];
    // An attribute that is misspelt, or has the state that is not between the tags, is reported by other rules.
    const isReportedElsewhere = (key: string): boolean =>
      required.some((each) => findMisspeltAttribute(each, tag) === key) ||
      (body === 'state' &&
        names.fileOf(tag.body) === undefined &&
        names.fileOf(tag.attributes[key] ?? '') !== undefined);
    const ignored = Object.keys(tag.attributes).filter(
      (key) =>
        !variables &&
        !isBuiltInAttribute(name, key) &&
        !isAttributeWord(name, key, tag.attributes[key]) &&
        !key.includes(UNKNOWN) &&
        !isReportedElsewhere(key),
    );
    const { worktree } = tag.attributes;
    const isMeant = variables && worktree !== undefined && worktree !== 'auto' && MEANT_AS_AUTO.test(worktree);
    return [
      ...(isMeant
        ? [{ message: `\`worktree="${worktree}"\` makes no worktree: it is a variable`, hint: WORKTREE_HINT }]
        : []),
      ...tag.repeated.map((key) => {
        return { message: `\`${key}\` is given more than once; the last one counts`, hint: 'Keep one of them.' };
      }),
      ...ignored.map((key) => ({
        message: `\`${key}\` means nothing on <${name}> and is ignored${didYouMean(key, attributes)}`,
        hint: 'Remove it: only a <fork> takes variables; the other tags pass `input`.',
      })),
    ];
  },
);

/** Words that somebody may write who wants a worktree; any other is a variable as every attribute of an author's own. */
const MEANT_AS_AUTO = /^(?:auto|true|yes|on|new|1|)$/i;

const WORKTREE_HINT = 'Write `worktree="auto"`, or rename the variable.';

/** An attribute of the language stands on a tag that does not take it, such as `cd` on a goto. */
export const misplacedAttribute = defineTagRule(
  { id: 'misplaced-attribute', level: 'error', supersedes: ['unreachable-state'] },
  ({ name, tag }) => {
    const misplaced = BUILT_IN_ATTRIBUTES.filter(
      (key) => Object.hasOwn(tag.attributes, key) && !takesAttribute(name, key),
    );
    return misplaced.map((key) => {
      const swapped = findSwappedAttribute(name, tag);
      const others = TAG_NAMES.filter(
        (each) => takesAttribute(each, key) && isWorkflowTag(each) === isWorkflowTag(name),
      ).map((each) => `<${each}>`);
      const hint =
        swapped?.wrong === key
          ? `Write \`${swapped.right}="${swapped.state}"\` instead.`
          : `Remove it, or use a tag that takes it: ${others.join(' or ')}.`;
      return { message: `\`${key}\` has no meaning on <${name}>`, hint };
    });
  },
);

/** A call does not say where it returns to, a fork where its parent continues, or a question where its answer goes. */
export const missingAttribute = defineTagRule(
  { id: 'missing-attribute', level: 'error', supersedes: ['unreachable-state'] },
  ({ name, tag, at }, analysis) =>
    TRANSITIONS[name].required.flatMap((key) => {
      if ((tag.attributes[key] ?? '').trim() !== '' || findSwappedAttribute(name, tag) !== undefined) return [];
      const isContinued = findForkContinuations(analysis.tags).length > 0 && !canEndAlone(at, analysis);
      if (key === 'next' && startsWorkers(name) && isContinued) return [];
      const misspelt = findMisspeltAttribute(key, tag);
      const instead = misspelt === undefined ? '' : `, and \`${misspelt}\` is not one of its attributes`;
      const hint = misspelt === undefined ? hintFor(name, key) : `Write \`${key}\` instead of \`${misspelt}\`.`;
      // Another tag of the file may be meant as the goto beside a fork.
      return [
        {
          message: `\`${key}="${key === 'in' ? 'FILE' : 'STATE'}"\` is missing${instead}`,
          hint,
          causes: key === 'next' ? [analysis.file] : [],
        },
      ];
    }),
);

const HINTS: Partial<Record<BuiltInAttribute, string>> = {
  return: 'Add `return="STATE"` with the state that is to get the result.',
  next: 'Add `next="STATE"` with the state where the parent continues, or put one <goto> or <join> beside the forks.',
  in: 'Add `in="FILE"` with the file that has the items.',
};

const hintFor = (name: TagName, key: BuiltInAttribute): string =>
  name === 'ask' ? 'Add `next="STATE"` with the state that is to get the answer.' : (HINTS[key] ?? '');

/** Finds an attribute that is probably this one misspelt. */
function findMisspeltAttribute(key: string, { name, attributes }: Tag): string | undefined {
  if ((attributes[key] ?? '').trim() !== '') return undefined;
  return Object.keys(attributes).find((each) => !isBuiltInAttribute(name, each) && nearest(each, [key]) !== undefined);
}

/** An attribute that names the state to continue in, on a tag that has another word for it. */
interface SwappedAttribute {
  readonly wrong: 'return' | 'next';
  readonly right: 'return' | 'next';
  readonly state: string;
}

/** Finds `next` on a call, or `return` on a fork, where the right one is not there. */
function findSwappedAttribute(name: TagName, { attributes }: Tag): SwappedAttribute | undefined {
  const required: readonly BuiltInAttribute[] = TRANSITIONS[name].required;
  const right = required.find((key) => key === 'return' || key === 'next');
  const wrong = right === 'return' ? 'next' : 'return';
  const state = attributes[wrong]?.trim() ?? '';
  return right === undefined || state === '' || attributes[right] !== undefined ? undefined : { wrong, right, state };
}

/** True if there is a way through a script on which no other tag follows this fork. */
function canEndAlone(at: TextPosition, { paths, positionAt, tags }: StateAnalysis): boolean {
  const isUnfollowed = paths?.outputs.some((output) => {
    return output.kind === 'forks' && output.continuation === null && comparePositions(positionAt(output.at), at) === 0;
  });
  // A continuation that depends on how many forks there were comes after them.
  return (
    isUnfollowed === true && !tags.some((other) => isContinuation(other.name) && comparePositions(other.at, at) > 0)
  );
}

/** A script puts a value that it does not know between the quotes of an `input`: a quote in it breaks the tag. */
export const quoteInInput = defineStateRule({ id: 'quote-in-input', level: 'warning' }, (analysis) => {
  if (analysis.kind !== 'script') return [];
  const { text } = analysis.source.state;
  const lines = text.split('\n');
  const start = analysis.positionAt(0);
  const unsafe = analysis.tags.filter(({ sure, tag }) => sure && tag.attributes.input?.includes(UNKNOWN));
  const byPosition = new Map(unsafe.map((placed) => [`${placed.at.line}:${placed.at.column}`, placed]));
  return [...byPosition.values()].flatMap(({ name, tag, at }) => {
    const level = levelOfInput(readWrittenInput(lines, at, start), text);
    if (level === null) return [];
    const message = `${quoteTag(name, tag)}: a quote in the value of \`input\` would break the tag`;
    return [{ at, level, message, hint: 'Write the text to a file and name that: `input-file="PATH"`.' }];
  });
});

/** The value of the `input` that stands at a position, as the script has it; undefined if it is not found there. */
function readWrittenInput(lines: readonly string[], at: PlacedTag['at'], start: TextPosition): string | undefined {
  const line = lines.slice(at.line - start.line).join('\n');
  const column = at.line === start.line ? at.column - start.column : at.column - 1;
  return /^<[^<>]*?\binput\s*=\s*\\?(["'])((?:\$\([^()]*\)|(?!\\?\1)[\s\S])*)/.exec(line.slice(column))?.[2];
}

/** Expansions that never hold a quote: numbers, and what Raymond sets by itself. */
const SAFE =
  /\$\(\([^()]*\)\)|\$\{#\w+\}|\$[#?$!]|\$\{?(?:RANDOM|SECONDS|LINENO|EPOCHSECONDS|RAYMOND_(?:WORKFLOW_ID|AGENT_ID|STATE|TASK_FOLDER|RUN_FOLDER|ASK_ID|RESULTS_FILE|RESULT_FILE|WORKFLOW_DIR|VISIT|TURN))\}?(?!\w)/g;
const EXPANSION = /\$\(([^()]*)\)|`([^`]*)`|\$\{?(\w+)[^}\s"'<>]*\}?/g;

/** Commands that print text of any kind. */
const FREE_TEXT = /2>&1|\|&|\b(?:cat|tail|curl|wget|claude|git\s+(?:log|diff|show|status))\b/;
const PLAIN_COMMAND = /^\s*(?:date|nproc|uuidgen|hostname|whoami|mktemp)\b|\bwc\s+-[lcw]\b|\bjq\b[^|]*\blength\b/;

/** The level of a finding about this value: null if no quote can be in it, a warning if it may be text of any kind. */
function levelOfInput(written: string | undefined, script: string): LintLevel | null {
  if (written === undefined) return 'info';
  const levels = [...written.replace(SAFE, '').matchAll(EXPANSION)].map(([, substitution, quoted, variable]) =>
    variable === undefined ? levelOfCommand(substitution ?? quoted ?? '') : levelOfVariable(variable, script),
  );
  return levels.includes('warning') ? 'warning' : levels.includes('info') ? 'info' : null;
}

const levelOfCommand = (command: string): LintLevel | null =>
  PLAIN_COMMAND.test(command) ? null : FREE_TEXT.test(command) ? 'warning' : 'info';

function levelOfVariable(name: string, script: string): LintLevel | null {
  const assigned = [...script.matchAll(new RegExp(`(?:^|[\\s;({])${name}=("?)([^\\n]*)`, 'gm'))];
  const levels = assigned.map(([, quote, rest = '']): LintLevel | null => {
    const [, command] = /^\$\(((?:[^()]|\([^()]*\))*)\)/.exec(rest) ?? [];
    if (/^\$\(\(/.test(rest)) return null;
    if (command !== undefined) return levelOfCommand(command);
    const value = (quote === '"' ? rest.split('"')[0] : rest.split(/[\s;]/)[0]) ?? '';
    return /^[\w.:/@+-]*$/.test(value.replace(SAFE, '')) ? null : 'info';
  });
  const [, items] = new RegExp(`\\bfor\\s+${name}\\s+in\\s+([^;\\n]*)`).exec(script) ?? [];
  if (items !== undefined) levels.push(/^[\w.:/@+ -]*$/.test(items) ? null : 'info');
  if (levels.length === 0) return 'info';
  return levels.includes('warning') ? 'warning' : levels.includes('info') ? 'info' : null;
}
