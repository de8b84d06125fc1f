import { addBashSyntaxErrors } from '../app/workflows/bash-syntax.ts';
import { readCommandOutput } from '../bash/command-output.ts';
import { parseScript } from '../bash/parse.ts';
import { listSimpleCommands } from '../bash/walk.ts';
import { buildGraph } from '../graph/build.ts';
import type { Edge, Graph } from '../graph/graph.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import { memoize } from '../language/text/memoize.ts';
import { type LintFinding, lintSource } from '../lint/lint.ts';
import type { Workflow } from '../workflow/workflow.ts';

/** The facts in the files of a workflow, independent of any scenario. */
export interface WorkflowFacts {
  readonly source: WorkflowSource;
  /** Built when it is first asked for: most tests do without. */
  readonly getGraph: () => Graph;
  /** The lint findings of a state that a test would not notice, because its answers are canned. */
  readonly findingsFor: (state: string) => readonly LintFinding[];
  readonly textOf: (state: string) => string;
  /** Every tag that a script can print; null if it may print what its text does not show. */
  readonly edgesOf: (script: string) => readonly Edge[] | null;
}

/** Reads the facts of a workflow, once for all of its test cases. */
export const readWorkflowFacts = memoize(async ({ source }: Workflow): Promise<WorkflowFacts> => {
  const findings = lintSource(await addBashSyntaxErrors(source)).filter(isHiddenByReplay);
  const texts = new Map(source.files.flatMap((each) => (each.kind === 'state' ? [[each.file, each.state.text]] : [])));
  const textOf = (state: string): string => texts.get(state) ?? '';
  const graphOf = memoize(buildGraph);
  const getGraph = (): Graph => graphOf(source);
  return {
    source,
    getGraph,
    textOf,
    findingsFor: (state) => findings.filter(({ file }) => file === state),
    edgesOf(script) {
      const { nodes, edges } = getGraph();
      const isOpen = nodes.some(({ state, open }) => state === script && open);
      return isOpen || !isSelfContained(script, textOf(script)) ? null : edges.filter(({ from }) => from === script);
    },
  };
});

/** True if a real run would meet the problem while a replay passes it by: a canned answer does not depend on the prompt. */
const isHiddenByReplay = ({ level, rule }: LintFinding): boolean =>
  level === 'error' || rule === 'missing-state' || rule === 'unmentioned-entry';

/**
 * True if all that a script prints stands in its own text: it lets no unknown program print and reads in no other file.
 * Only then is it certain that it cannot print some tag.
 */
function isSelfContained(file: string, text: string): boolean {
  const script = file.endsWith('.sh') ? parseScript(text) : undefined;
  if (script === undefined) return false;
  const printing = listSimpleCommands(script.commands).filter(({ context }) => context.keepsStdout);
  const ownFunctions = new Set(printing.map(({ context }) => context.functionName));
  return printing.every(({ command }) => {
    const isElsewhere = readCommandOutput(command).isUnknownProgram || ['source', '.'].includes(command.name);
    return ownFunctions.has(command.name) || !isElsewhere;
  });
}
