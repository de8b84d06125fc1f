import { DEFAULT_OPTIONS } from '../core/run.ts';
import { buildGraph } from '../graph/build.ts';
import type { Edge, Graph } from '../graph/graph.ts';
import { type LintFinding, lintSource } from '../lint/lint.ts';
import { addBashSyntaxErrors } from '../runtime/bash-syntax.ts';
import { readCommandOutput, splitCommandWords } from '../shell/command-output.ts';
import { parseScript } from '../shell/parse.ts';
import { listSimpleCommands } from '../shell/walk.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { readWorkflowSource } from '../workflow/workflow-source.ts';

/** What the files of a workflow say by themselves, whatever is played. */
export interface WorkflowFacts {
  /** What is wrong with a state though it can be played. */
  readonly findingsFor: (state: string) => readonly LintFinding[];
  readonly textOf: (script: string) => string;
  /** All that a script can print; null if it may print what its text does not show. */
  readonly edgesOf: (script: string) => readonly Edge[] | null;
}

/** Reads a workflow, once for all its scenarios. */
export function readWorkflowFacts(workflow: Workflow): Promise<WorkflowFacts> {
  const facts = CACHE.get(workflow) ?? analyzeWorkflow(workflow);
  CACHE.set(workflow, facts);
  return facts;
}

const CACHE = new WeakMap<Workflow, Promise<WorkflowFacts>>();

async function analyzeWorkflow({ path, platform }: Workflow): Promise<WorkflowFacts> {
  const circumstances = { platform, resetStack: DEFAULT_OPTIONS.resetStack, variables: [] };
  const { source } = await readWorkflowSource(path, circumstances);
  let graph: Graph | undefined;
  const findings = lintSource(await addBashSyntaxErrors(source)).filter(isHiddenByReplay);
  const texts = new Map(source.files.flatMap((each) => (each.kind === 'state' ? [[each.file, each.state.text]] : [])));
  const textOf = (state: string): string => texts.get(state) ?? '';
  return {
    textOf,
    findingsFor: (state) => findings.filter(({ file }) => file === state),
    edgesOf: (script) => {
      graph ??= buildGraph(source);
      const { nodes, edges } = graph;
      const isOpen = nodes.some(({ state, open }) => state === script && open);
      return isOpen || !isSelfContained(script, textOf(script)) ? null : edges.filter(({ from }) => from === script);
    },
  };
}

/** What a run in earnest would meet, but canned answers pass by: an answer is not made of the words of its state. */
const isHiddenByReplay = ({ level, rule }: LintFinding): boolean =>
  level === 'error' || rule === 'missing-state' || rule === 'unmentioned-entry';

/**
 * Whether nobody but the script itself prints what it prints: no program that we know nothing about, and no other file that
 * is read in. Only then can it be said for certain that it does not print something.
 */
function isSelfContained(file: string, text: string): boolean {
  const script = file.endsWith('.sh') ? parseScript(text) : undefined;
  if (script === undefined) return false;
  const printingLines = listSimpleCommands(script).filter((line) => line.keepsStdout);
  const ownFunctions = new Set(printingLines.map(({ functionName: within }) => within));
  return printingLines.every(({ words, redirects }) => {
    const { name } = splitCommandWords(words);
    return (
      ownFunctions.has(name) ||
      !(readCommandOutput(words, redirects).isUnknownProgram || name === 'source' || name === '.')
    );
  });
}
