import { blank } from '../../core/markup.ts';
import { nearest } from '../../core/nearest.ts';
import { UNKNOWN } from '../../core/tag-mentions.ts';
import { RUN_VARIABLES } from '../../core/variables.ts';
import { type DefinedVariables, findDefinedVariables } from '../../graph/defined-variables.ts';
import type { PathStep } from '../../graph/reachability.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { findCodeBlocks } from '../../graph/tags-in-code.ts';
import { findForkVariables, findVariableUses, type VariableUse } from '../../graph/variables.ts';
import { collapseAnyState, formatStepPath } from '../messages.ts';
import { defineRule, type RuleContext, type RuleFinding } from '../rule.ts';
import { findUnsetScriptVariables } from '../script-variables.ts';

/** Variables that every state has, or that `undefined-result` checks. */
const BUILT_IN_VARIABLES = Object.keys(RUN_VARIABLES);

/** A `{{variable}}` is not set on some path to its state, or a script uses a variable that nothing sets. */
export const undefinedVariable = defineRule({ id: 'undefined-variable', level: 'warning' }, (context) => [
  ...findUnsetInPrompts(context),
  ...context.analyses.flatMap(findUnsetScriptVariables),
]);

function findUnsetInPrompts(context: RuleContext): readonly RuleFinding[] {
  const { graph, proof, analyses, analysisOf, workflow } = context;
  if (graph.entry === null) return [];
  const uses = analyses.flatMap((analysis) => {
    if (analysis.kind !== 'prompt' || analysis.broken || !context.isReached(analysis.file)) return [];
    const { text } = analysis.source.state;
    const all = findVariableUses(text);
    const isOnlyInCode = all.length === 0 ? () => false : createCodeOnlyCheck(text);
    return uniqueUses(all).map((use) => ({ analysis: analysis, use, onlyInCode: isOnlyInCode(use.name) }));
  });
  const candidates = uses.filter(({ use }) => !BUILT_IN_VARIABLES.includes(use.name));
  if (candidates.length === 0) return [];
  const defined = findDefinedVariables(
    proof,
    analysisOf,
    workflow.variables,
    new Set(candidates.map(({ use }) => use.name)),
  );
  const setByForks = new Set(
    graph.edges.flatMap(({ variables }) => variables).filter((name) => !name.includes(UNKNOWN)),
  );
  const forks = graph.edges.some(({ tag }) => tag === 'fork');
  return candidates.flatMap(({ analysis, use, onlyInCode }): RuleFinding[] => {
    if (defined.has(proof.flow.numberOf(analysis.file), use.name)) return [];
    const known = setByForks.has(use.name) || defined.isDefinedSomewhere(use.name);
    const text = known
      ? describeUnsetHere(use, analysis, context, defined)
      : describeUnsetAnywhere(use, [...setByForks, ...BUILT_IN_VARIABLES], forks, onlyInCode);
    return [{ file: analysis.file, at: analysis.positionAt(use.offset), ...text }];
  });
}

/** A longer list of variables does not help to find the one that was meant. */
const MAX_NAMED = 3;

type FindingText = Pick<RuleFinding, 'message' | 'hint' | 'path' | 'level'>;

/** Makes a check for names that a prompt has only in code blocks, where they may be part of an example. */
function createCodeOnlyCheck(text: string): (name: string) => boolean {
  const elsewhere = new Set(findVariableUses(blank(text, findCodeBlocks(text))).map(({ name }) => name));
  return (name) => !elsewhere.has(name);
}

function uniqueUses(uses: readonly VariableUse[]): readonly VariableUse[] {
  const seen = new Set<string>();
  return uses.filter(({ name }) => !seen.has(name) && seen.add(name));
}

function describeUnsetAnywhere(
  { name }: VariableUse,
  known: readonly string[],
  forks: boolean,
  onlyInCode: boolean,
): FindingText {
  const nearestName = nearest(name, known);
  if (onlyInCode && nearestName === undefined) {
    const message = `nothing sets {{${name}}}, which is in a code block`;
    return {
      message,
      hint: `Write \\{{${name}}} if it is meant literally: then no run warns about it.`,
      level: 'info',
    };
  }
  const suggestion = nearestName === undefined ? '' : ` (did you mean {{${nearestName}}}?)`;
  const asItStands = `write \\{{${name}}} if it is meant literally.`;
  const set = known.filter((each) => !BUILT_IN_VARIABLES.includes(each));
  const others =
    set.length === 0 || set.length > MAX_NAMED ? '' : `; they give ${set.map((each) => `{{${each}}}`).join(', ')}`;
  const hint = forks
    ? `Add ${name}="…" to the <fork> whose worker comes here, or pass --var ${name}=… to run and lint; ${asItStands}`
    : `Only a <fork> or --var ${name}=… sets a variable; pass --var to lint as well; ${asItStands}`;
  return {
    message: `nothing sets {{${name}}}: no <fork> of this workflow gives it${nearestName === undefined ? others : suggestion}`,
    hint,
  };
}

/** Describes a variable that some agents have, but not on every path. */
function describeUnsetHere(
  { name }: VariableUse,
  { file }: StateAnalysis,
  context: RuleContext,
  defined: DefinedVariables,
): FindingText {
  const state = context.proof.flow.numberOf(file);
  const path = collapseAnyState(defined.pathWithout(state, name));
  const message =
    path.length === 0
      ? `{{${name}}} is not set in ${file}, where the run begins`
      : `{{${name}}} is not set on this path to ${file}: ${formatStepPath(path, file)}`;
  const forkIndex = path.findLastIndex(({ how }) => how === 'worker');
  const parentStep = path.slice(forkIndex + 1).find((step) => leavesSettingFork(step, name, context));
  if (parentStep !== undefined)
    return { message, hint: hintForParent(name, file, parentStep, defined.isDefinedOnSomePath(state, name)), path };
  const worker = path[forkIndex];
  if (worker !== undefined) return { message, hint: hintForWorker(name, worker), path };
  const hint = `Only the worker of a <fork> with ${name}="…" has it: send the others to another state, or start the run with --var ${name}=….`;
  return { message, hint, path };
}

/** Whether the parent makes this step after a fork that sets the variable for its worker. */
function leavesSettingFork({ how, from, after }: PathStep, name: string, { graph, analysisOf }: RuleContext): boolean {
  if (how !== 'next') return false;
  return graph.edges.some((edge) => {
    if (edge.from !== from || edge.tag !== 'fork' || edge.to?.kind !== 'state' || edge.to.file !== after) return false;
    const names = findForkVariables(edge, analysisOf.get(from), new Set([name]));
    return names === 'all' || names.has(name);
  });
}

function hintForParent(name: string, file: string, { from, after }: PathStep, shared: boolean): string {
  const why = `What a <fork> sets belongs to its worker (${after}), not to the parent, which continues here`;
  return shared
    ? `${why}: make the parent continue in another state than ${file}.`
    : `${why}: take {{${name}}} out of ${file}, or have ${from} write it to a file that ${file} reads.`;
}

function hintForWorker(name: string, { from, to, at }: PathStep): string {
  const line = at === null || at.line === 0 ? '' : `, line ${at.line}`;
  return `Add ${name}="…" to the <fork> of ${to} in ${from}${line}: a worker has only what its own <fork> sets.`;
}
