import type { PlacedTag } from '../../graph/state-analysis.ts';
import { UNKNOWN } from '../../language/tags/tag-mentions.ts';
import type { TextPosition } from '../../language/text/text.ts';
import { quoteTag } from '../messages.ts';
import { defineStateRule, type LintLevel } from '../rule.ts';

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
