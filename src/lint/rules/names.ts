import { uniqueBy } from '../../graph/group-by.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { findSpecsInRules } from '../../graph/workflow-mentions.ts';
import { sourceScope, type WorkflowSource } from '../../graph/workflow-source.ts';
import { fileInWorkflow, workflowNameOf } from '../../language/named-workflows.ts';
import { isPrompt, isStateFile, stem } from '../../language/state-names.ts';
import { type TextPosition, WHOLE_FILE } from '../../language/text/text.ts';
import { isWorkflowTag } from '../../language/transitions/index.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { DOUBLE_QUOTES_HINT, NO_TEMPLATE_HINT, quoteTag } from '../messages.ts';
import { defineRule, defineStateRule, type LintLevel, levelForTag, type RuleContext } from '../rule.ts';
import { defineNameRule } from '../unresolved-names.ts';

/** There is more than one state to start in. */
export const ambiguousEntry = defineRule(
  { id: 'ambiguous-entry', level: 'error', blocksStart: 'always' },
  ({ workflow }) => {
    const { entry, name } = workflow;
    if (entry.kind !== 'ambiguous') return [];
    return [{ file: name, at: WHOLE_FILE, message: entry.message, hint: 'Rename or remove the others.' }];
  },
);

/** A name without extension could be a prompt or a script. */
export const ambiguousState = defineNameRule(
  { id: 'ambiguous-state', reason: 'ambiguous', blocksStart: 'in-frontmatter' },
  (name, { names }) => `Write ${names.candidatesFor(name).map(fileInWorkflow).join(' or ')}.`,
);

/** A state is named by a path. */
export const pathInName = defineNameRule(
  { id: 'path-in-name', reason: 'unsafe', blocksStart: 'in-frontmatter' },
  () => 'Write only the file name: all states of a workflow are in one folder.',
);

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
function correctEnding(ending: string): string | undefined {
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

/** A state exists only as a script for another system, or is named as if it did. */
export const foreignState = defineNameRule(
  { id: 'foreign-state', reason: 'foreign' },
  (name, { names }, { workflow }) => {
    const here = names.resolve(stem(name));
    return here.kind === 'found' && !isPrompt(here.file)
      ? `Write ${stem(name)}: then each system runs its own script.`
      : hintForForeign(workflow);
  },
);

/** Says what to do about a script for another system. */
function hintForForeign({ platform }: WorkflowSource): string {
  const [here, there] = platform === 'unix' ? ['Unix', 'windows'] : ['Windows', 'unix'];
  return `Add the script for ${here}; if the workflow is not for ${here}, lint it with --platform ${there}.`;
}

/** There is no state to start in. */
export const missingEntry = defineRule(
  { id: 'missing-entry', level: 'error', blocksStart: 'always' },
  ({ workflow }) => {
    const { entry, name, files } = workflow;
    if (entry.kind === 'found' || entry.kind === 'ambiguous') return [];
    // Why a file has no states at all is said already.
    if (files.length === 0 && workflow.findings?.some(({ level }) => level === 'error')) return [];
    const isEmpty = entry.kind === 'unknown' && !files.some(({ file }) => isStateFile(file));
    const message = isEmpty ? 'there are no states here' : entry.message;
    return [{ file: name, at: WHOLE_FILE, message, hint: hintForEntry(workflow, isEmpty) }];
  },
);

/** A name that may be right but for its ending, or its letter case. */
const ALMOST_START = /^((?:1_)?START)\.(\w+)$/i;

function hintForEntry(workflow: WorkflowSource, isEmpty: boolean): string {
  const { entry, files, below = [] } = workflow;
  if (entry.kind === 'foreign') return hintForForeign(workflow);
  for (const { file } of files) {
    const [, base = '', ending = ''] = ALMOST_START.exec(file) ?? [];
    const right = correctEnding(ending);
    if (right !== undefined) return `Rename ${file} to ${base.toUpperCase()}.${right}.`;
  }
  const [first] = below;
  if (first !== undefined) return `There is a ${first}: name its folder instead of this one.`;
  return isEmpty
    ? 'Add a START.md, or name the folder that has one.'
    : 'A folder or a zip starts in the state 1_START or START: rename the one that comes first.';
}

/** A tag or a policy names a workflow that does not exist or cannot be entered, or a state that is not in it. */
export const missingWorkflow = defineStateRule(
  { id: 'missing-workflow', level: 'error', blocksStart: 'in-frontmatter', supersedes: CYCLE_RULES },
  (analysis) =>
    uniqueBy(listPaths(analysis), ({ spec }) => spec).flatMap(({ spec, at, shown, level }) => {
      const found = analysis.names.resolveSpec(spec);
      if (found === undefined || found.kind === 'found') return [];
      return [{ at, message: `${shown}: ${found.message}`, hint: HINT, level }];
    }),
);

const HINT =
  'Write the path of a folder, a .zip or a .yaml, or of a state in one of them, as it is seen from this workflow.';

/** A path of a workflow in a state's file. */
interface WrittenPath {
  readonly spec: string;
  readonly at: TextPosition;
  readonly shown: string;
  readonly level: LintLevel;
}

function listPaths(analysis: StateAnalysis): readonly WrittenPath[] {
  const inRules = findSpecsInRules(analysis.source).map(
    ({ spec, at }): WrittenPath => ({ spec, at, shown: '`target`', level: 'error' }),
  );
  const inText = analysis.expandedTags.filter(({ name, sure }) => sure && isWorkflowTag(name));
  const level = levelForTag(analysis);
  return [
    ...inRules,
    ...inText.map(({ name, tag, at }) => ({ spec: tag.body, at, shown: quoteTag(name, tag), level })),
  ];
}
