import { isStateFile } from '../../core/state-names.ts';
import { CYCLE_RULES } from '../cycle-diagnostics.ts';
import { DOUBLE_QUOTES_HINT } from '../messages.ts';
import type { RuleContext } from '../rule.ts';
import { defineNameRule } from '../unresolved-names.ts';

/** A tag or a policy names a state that does not exist. */
export const missingState = defineNameRule(
  { id: 'missing-state', reason: 'unknown', blocksStart: 'in-frontmatter', supersedes: CYCLE_RULES },
  (name, context) => {
    if (name.includes('{{'))
      return 'Raymond fills in {{…}} in prompts only: in a script, write the variable of the shell, such as "$name".';
    if (name.includes('$')) return DOUBLE_QUOTES_HINT;
    if (/^(?:readme|claude|agents)(?:\.md)?$/i.test(name)) {
      return 'README.md, CLAUDE.md and AGENTS.md are never states: give the state another name.';
    }
    const suggestion = context.names.suggest(name);
    return suggestion === null ? hintFor(name, context) : `Write ${suggestion}.`;
  },
);

/** Other endings for what a state can be. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['bash', 'sh'],
  ['zsh', 'sh'],
  ['ksh', 'sh'],
  ['markdown', 'md'],
  ['mdown', 'md'],
  ['mdx', 'md'],
  ['txt', 'md'],
]);

function hintFor(name: string, { workflow }: RuleContext): string {
  const file = workflow.files.find((each) => each.file === name && !isStateFile(each.file));
  const [, base = name, ending = ''] = /^(.*)\.([^.]+)$/.exec(file?.file ?? '') ?? [];
  const right =
    ENDINGS.get(ending.toLowerCase()) ?? (/^(?:md|sh|bat|ps1)$/i.test(ending) ? ending.toLowerCase() : undefined);
  if (right !== undefined) return `Rename it ${base}.${right}, and write that name here.`;
  if (file !== undefined) return `Let a script such as ${base}.sh run ${name}, and name that script here.`;
  const other = workflow.files.find((each) => each.file.toLowerCase() === name.toLowerCase());
  if (other !== undefined) return `Rename ${other.file} to ${name}: upper and lower case count, also in the ending.`;
  return `Add a state ${name} to the workflow, or name one that exists.`;
}
