import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { sourceScope } from '../../graph/workflow-source.ts';
import { fileInWorkflow, workflowNameOf } from '../../language/named-workflows.ts';
import { isStateFile } from '../../language/state-names.ts';
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
  (name, analysis, context) => {
    if (name.includes('{{')) return NO_TEMPLATE_HINT;
    if (name.includes('$')) return DOUBLE_QUOTES_HINT;
    if (/^(?:readme|claude|agents)(?:\.md)?$/i.test(name)) {
      return 'README.md, CLAUDE.md and AGENTS.md are never states: give the state another name.';
    }
    const suggestion = analysis.names.suggest(name);
    return suggestion === null ? hintFor(name, analysis, context) : `Change it to ${fileInWorkflow(suggestion)}.`;
  },
);

/** The ending that a state's file must have instead of another one, or in lower case. */
export function correctEnding(ending: string): string | undefined {
  const lower = ending.toLowerCase();
  if (/^(?:md|sh|bat|ps1)$/.test(lower)) return lower;
  return /^(?:bash|zsh|ksh)$/.test(lower) ? 'sh' : /^(?:markdown|mdown|mdx|txt)$/.test(lower) ? 'md' : undefined;
}

function hintFor(name: string, { file: namedIn }: StateAnalysis, { workflow }: RuleContext): string {
  const { files } = sourceScope(workflow, workflowNameOf(namedIn));
  const file = files.find((each) => each === name && !isStateFile(each));
  const [, base = name, ending = ''] = /^(.*)\.([^.]+)$/.exec(file ?? '') ?? [];
  const right = correctEnding(ending);
  if (right !== undefined) return `Rename it to ${base}.${right}, and write that name here.`;
  if (file !== undefined) return `Run ${name} from a script such as ${base}.sh, and name that script here.`;
  const other = files.find((each) => each.toLowerCase() === name.toLowerCase());
  if (other !== undefined) return `Rename ${other} to ${name}: upper and lower case count, also in the ending.`;
  return `Add a state ${name} to the workflow, or name one that exists.`;
}
