import { isStateFile } from '../../core/state-names.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { DOUBLE_QUOTES_HINT, NO_TEMPLATE_HINT } from '../messages.ts';
import type { RuleContext } from '../rule.ts';
import { defineNameRule } from '../unresolved-names.ts';

/** A tag or a policy names a state that does not exist. */
export const missingState = defineNameRule(
  {
    id: 'missing-state',
    reason: 'unknown',
    blocksStart: 'in-frontmatter',
    supersedes: ['unmentioned-entry', ...CYCLE_RULES],
  },
  (name, context) => {
    if (name.includes('{{')) return NO_TEMPLATE_HINT;
    if (name.includes('$')) return DOUBLE_QUOTES_HINT;
    if (/^(?:readme|claude|agents)(?:\.md)?$/i.test(name)) {
      return 'README.md, CLAUDE.md and AGENTS.md are never states: give the state another name.';
    }
    const suggestion = context.names.suggest(name);
    return suggestion === null ? hintFor(name, context) : `Change it to ${suggestion}.`;
  },
);

/** The ending that a state's file must have instead of another one, or in lower case. */
export function correctEnding(ending: string): string | undefined {
  const lower = ending.toLowerCase();
  if (/^(?:md|sh|bat|ps1)$/.test(lower)) return lower;
  return /^(?:bash|zsh|ksh)$/.test(lower) ? 'sh' : /^(?:markdown|mdown|mdx|txt)$/.test(lower) ? 'md' : undefined;
}

function hintFor(name: string, { workflow }: RuleContext): string {
  const file = workflow.files.find((each) => each.file === name && !isStateFile(each.file));
  const [, base = name, ending = ''] = /^(.*)\.([^.]+)$/.exec(file?.file ?? '') ?? [];
  const right = correctEnding(ending);
  if (right !== undefined) return `Rename it to ${base}.${right}, and write that name here.`;
  if (file !== undefined) return `Run ${name} from a script such as ${base}.sh, and name that script here.`;
  const other = workflow.files.find((each) => each.file.toLowerCase() === name.toLowerCase());
  if (other !== undefined) return `Rename ${other.file} to ${name}: upper and lower case count, also in the ending.`;
  return `Add a state ${name} to the workflow, or name one that exists.`;
}
