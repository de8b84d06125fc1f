import { type Edge, filesOf, targetsOf } from '../../graph/graph.ts';
import { uniqueBy } from '../../graph/group-by.ts';
import { findCodeBlocks } from '../../graph/prompt-tags.ts';
import type { PathStep } from '../../graph/reachability.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import {
  type DefinedVariables,
  findArrival,
  findDefinedVariables,
  findVariableUses,
  type VariableUse,
} from '../../graph/variables.ts';
import { SAFE_NAME_PREFIX } from '../../language/environment-names.ts';
import { STATE_ATTRIBUTES, type Tag } from '../../language/tags/tag.ts';
import { UNKNOWN } from '../../language/tags/tag-mentions.ts';
import { blank } from '../../language/text/markup.ts';
import { nearest } from '../../language/text/nearest.ts';
import { startsWorkers, type TagName, TRANSITIONS } from '../../language/transitions/index.ts';
import { RUN_VARIABLES } from '../../language/variable-names.ts';
import { collapseAnyState, DOUBLE_QUOTES_HINT, formatStepPath, quoteTag } from '../messages.ts';
import { defineRule, defineStateRule, type RuleContext, type RuleFinding } from '../rule.ts';
import { findForkVariableUses, findScriptVariableUses, isPreparedForUnset } from '../script-variables.ts';

/** Variables that every state has, or that `undefined-result` checks; `error` only states have that a guard leads to. */
const BUILT_IN_VARIABLES = Object.keys(RUN_VARIABLES).filter((name) => name !== 'error');

/** A `{{variable}}` is not set on some path to its state, or a script uses a variable that nothing sets. */
export const undefinedVariable = defineRule({ id: 'undefined-variable', level: 'warning' }, (context) => [
  ...findUnsetOnPaths(context),
  ...findUnsetOnArrival(context),
  ...context.analyses.flatMap(findUnsetInScript),
]);

function findUnsetOnPaths(context: RuleContext): readonly RuleFinding[] {
  const { graph, proof, analyses, analysisOf, workflow } = context;
  if (graph.entry === null) return [];
  const setByForks = new Set(
    graph.edges.flatMap(({ variables }) => variables).filter((name) => !name.includes(UNKNOWN)),
  );
  const uses = analyses.flatMap((analysis) => {
    if (analysis.broken || !context.isReached(analysis.file)) return [];
    // An evaluator has the variables of every state that it evaluates.
    if (graph.mereEvaluators.has(analysis.file)) return [];
    const { text } = analysis.source.state;
    // A script has variables of its own: only those that a fork sets are looked at.
    const used =
      analysis.kind === 'prompt'
        ? findVariableUses(text).filter(({ name }) => !BUILT_IN_VARIABLES.includes(name))
        : findForkVariableUses(analysis.file, text, setByForks);
    return uniqueBy(used, ({ name }) => name).map((use) => ({ analysis, use }));
  });
  if (uses.length === 0) return [];
  const defined = findDefinedVariables(proof, analysisOf, workflow.variables, new Set(uses.map(({ use }) => use.name)));
  const forks = graph.edges.some(({ tag }) => startsWorkers(tag));
  const guarded = new Set(graph.edges.flatMap(({ guard, to }) => (guard === null || to === null ? [] : filesOf(to))));
  return uses.flatMap(({ analysis, use }): RuleFinding[] => {
    if (defined.has(proof.flow.numberOf(analysis.file), use.name)) return [];
    if (use.name === 'error' && guarded.has(analysis.file)) return [];
    const known = setByForks.has(use.name) || defined.isDefinedSomewhere(use.name);
    const text = known
      ? describeUnsetHere(use, analysis, context, defined)
      : describeUnsetAnywhere(use, analysis, [...setByForks, ...BUILT_IN_VARIABLES], forks);
    return [{ file: analysis.file, at: analysis.positionAt(use.offset), ...text }];
  });
}

/** A longer list of variables does not help to find the one that was meant. */
const MAX_NAMED = 3;

type FindingText = Pick<RuleFinding, 'message' | 'hint' | 'path' | 'level'>;

/** True if a prompt has a variable only in code blocks, where it may be part of an example. */
const isOnlyInCode = ({ name }: VariableUse, text: string): boolean =>
  findVariableUses(blank(text, findCodeBlocks(text))).every((use) => use.name !== name);

function describeUnsetAnywhere(
  use: VariableUse,
  { source }: StateAnalysis,
  known: readonly string[],
  forks: boolean,
): FindingText {
  const { name } = use;
  if (name === 'error')
    return {
      message: 'nothing sets {{error}}: no guard leads here',
      hint: 'Only the state that a guard leads to (`on` in the frontmatter) has it.',
    };
  const nearestName = name === 'run_id' ? 'workflow_id' : nearest(name, known);
  if (nearestName === undefined && isOnlyInCode(use, source.state.text)) {
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
  { file, kind }: StateAnalysis,
  context: RuleContext,
  defined: DefinedVariables,
): FindingText {
  const state = context.proof.flow.numberOf(file);
  const path = collapseAnyState(defined.pathWithout(state, name));
  const shown = kind === 'prompt' ? `{{${name}}}` : `$${name}`;
  const message =
    path.length === 0
      ? `${shown} is not set in ${file}, where the run begins`
      : `${shown} is not set on this path to ${file}: ${formatStepPath(path, file)}`;
  const worker = path.findLast(({ how }) => how === 'worker');
  const hint =
    worker !== undefined
      ? hintForWorker(name, worker)
      : `Only the worker of a <fork> with ${name}="…" has it: send the others to another state, or start the run with --var ${name}=….`;
  return { message, hint, path };
}

function hintForWorker(name: string, { from, to, at }: PathStep): string {
  const line = at === null || at.line === 0 ? '' : `, line ${at.line}`;
  return `Add ${name}="…" to the <fork> of ${to} in ${from}${line}: a worker has only what its own <fork> sets.`;
}

/** The variables that Raymond sets for a script, besides RAYMOND_VAR_…; it removes all others that begin with RAYMOND_. */
const SCRIPT_VARIABLES: readonly string[] = [
  ...Object.values(RUN_VARIABLES),
  'RAYMOND_RESULT_FILE',
  'RAYMOND_TURN',
  'RAYMOND_WORKFLOW_DIR',
  'RAYMOND_VISIT',
  'RAYMOND_OUTPUT',
  'RAYMOND_OUTPUT_FILE',
  'RAYMOND_TRANSITION',
];

/** Finds the variables that a script uses and nothing sets. */
function findUnsetInScript(analysis: StateAnalysis): readonly RuleFinding[] {
  if (analysis.kind !== 'script') return [];
  const uses = findScriptVariableUses(analysis.file, analysis.source.state.text);
  return uniqueBy(uses, ({ name }) => name).flatMap(({ offset, name }): RuleFinding[] => {
    if (SCRIPT_VARIABLES.includes(name) || name.startsWith(SAFE_NAME_PREFIX)) return [];
    const meant = name === 'RAYMOND_RUN_ID' ? RUN_VARIABLES.workflow_id : nearest(name, SCRIPT_VARIABLES);
    const message = `Raymond does not set \`${name}\`${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
    const hint =
      meant === undefined
        ? 'Other variables whose names begin with RAYMOND_ do not reach scripts: choose another name.'
        : `Write ${meant}.`;
    return [{ file: analysis.file, at: analysis.positionAt(offset), message, hint }];
  });
}

/** The transition that must lead to a state for it to have a variable. */
interface Arrival {
  readonly sets: readonly (keyof typeof RUN_VARIABLES)[];
  readonly by: string;
  readonly isMadeBy: (edge: Edge) => boolean;
}

const ARRIVALS: readonly Arrival[] = [
  { sets: ['results', 'results_file'], by: '<join>', isMadeBy: ({ tag }) => tag === 'join' },
  { sets: ['ask_id'], by: '<ask>', isMadeBy: ({ tag }) => tag === 'ask' },
  { sets: ['error'], by: 'guard', isMadeBy: ({ guard }) => guard !== null },
];

/** Finds the uses of variables that only a join, a question or a guard sets, in states that none of them leads to. */
function findUnsetOnArrival(context: RuleContext): readonly RuleFinding[] {
  const { analyses, graph } = context;
  return ARRIVALS.flatMap(({ sets, by, isMadeBy }): readonly RuleFinding[] => {
    // A state that may make other transitions may make this one, too; guards are all in frontmatter.
    if (by !== 'guard' && graph.nodes.some(({ open }) => open)) return [];
    const targets = graph.edges.filter(isMadeBy).flatMap(targetsOf);
    if (targets.some(({ kind }) => kind === 'any')) return [];
    const reached = new Set(targets.flatMap(filesOf));
    const hint = `Only the state that a ${by} leads to has it: use it there, or write it into a file.`;
    return analyses.flatMap((analysis): readonly RuleFinding[] => {
      const { file, broken } = analysis;
      if (broken || !context.isReached(file) || graph.mereEvaluators.has(file)) return [];
      const uses = findUses(analysis, sets).map(({ name, offset }) => ({ name, at: analysis.positionAt(offset) }));
      if (uses.length === 0) return [];
      if (!reached.has(file))
        return uses.map(({ name, at }) => {
          return { file, at, message: `nothing sets ${name} in ${file}: no ${by} leads here`, hint };
        });
      const path = findPathWithout(file, isMadeBy, context);
      if (path === undefined) return [];
      return uses.map(({ name, at }) => {
        const message = `${name} is not set on this path to ${file}: ${formatStepPath(path, file)}`;
        return { file, at, message, hint, path };
      });
    });
  });
}

/** A path to a state that does not end with such an arrival; undefined if there is none. A guard hands on what there was. */
function findPathWithout(
  file: string,
  isMadeBy: Arrival['isMadeBy'],
  { proof }: RuleContext,
): readonly PathStep[] | undefined {
  const state = proof.flow.numberOf(file);
  const path = findArrival(
    proof,
    state,
    ({ exit: { edge } }) => edge !== null && edge.guard === null && !isMadeBy(edge),
  );
  return path.length > 0 ? collapseAnyState(path) : state === proof.flow.entry ? [] : undefined;
}

/** `{{error}}` of a prompt may also be a variable of one's own: it is looked at with those. */
function findUses({ kind, file, source }: StateAnalysis, sets: Arrival['sets']): readonly VariableUse[] {
  const { text } = source.state;
  if (kind === 'prompt') {
    const uses = findVariableUses(text).filter(({ name }) => name !== 'error' && sets.some((each) => each === name));
    return uniqueBy(uses, ({ name }) => name).map(({ name, offset }) => ({ name: `{{${name}}}`, offset }));
  }
  const names = sets.map((name): string => RUN_VARIABLES[name]);
  const uses = findScriptVariableUses(file, text).filter(
    ({ name }) => names.includes(name) && !isPreparedForUnset(name, text),
  );
  return uniqueBy(uses, ({ name }) => name);
}

/** A script prints the name of one of its variables instead of the value: between single quotes, a `$` is an ordinary character. */
export const literalVariable = defineStateRule({ id: 'literal-variable', level: 'warning' }, (analysis) => {
  if (!analysis.file.endsWith('.sh')) return [];
  const { text } = analysis.source.state;
  return analysis.tags.flatMap(({ name, tag, at, sure }) => {
    const handed = sure ? collectHandedTexts(name, tag) : [];
    const named = handed.flatMap((each) =>
      [...each.matchAll(/\$\{?([a-z_]\w*)/gi)].map(([, variable = '']) => variable),
    );
    const found = named.find((variable) => isSetBy(text, variable) && !isEscapedIn(text, variable));
    if (found === undefined) return [];
    const message = `${quoteTag(name, tag)} contains the text \`$${found}\`, not the value of the variable`;
    return [{ at, message, hint: DOUBLE_QUOTES_HINT }];
  });
});

/** Lists the texts that a tag passes on; names of states are checked by `missing-state`. */
function collectHandedTexts(name: TagName, { body, attributes }: Tag): readonly string[] {
  const defined = Object.entries(attributes).flatMap(([key, value]) =>
    (STATE_ATTRIBUTES as readonly string[]).includes(key) ? [] : value,
  );
  return TRANSITIONS[name].body === 'text' ? [body, ...defined] : defined;
}

/** True if a script or Raymond sets a variable. */
const isSetBy = (script: string, name: string): boolean =>
  name.startsWith('RAYMOND_') ||
  new RegExp(`(?:^|[\\s;({])${name}\\+?=|\\bfor ${name}\\b`, 'm').test(script) ||
  script.split('\n').some((line) => /\bread\b/.test(line) && new RegExp(`\\s${name}\\b`).test(line));

const isEscapedIn = (script: string, name: string): boolean => new RegExp(`\\\\\\$\\{?${name}\\b`).test(script);
