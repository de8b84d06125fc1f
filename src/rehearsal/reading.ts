import { buildGraph } from '../analysis/build.ts';
import type { Edge, Graph } from '../analysis/graph.ts';
import { type LintFinding, lint } from '../analysis/lint.ts';
import { parseScript } from '../analysis/shell/parse.ts';
import { nameOf, speechOf } from '../analysis/shell/speech.ts';
import { linesOf } from '../analysis/shell/walk.ts';
import { DEFAULT_OPTIONS } from '../core/run.ts';
import { withScriptFaults } from '../raymond/bash-check.ts';
import type { Workflow } from '../workflow/load.ts';
import { readSheet } from '../workflow/sheet.ts';

/** What the files of a workflow say by themselves, whatever is played. */
export interface Reading {
  /** What is wrong with a state though it can be played. */
  readonly faultsOf: (state: string) => readonly LintFinding[];
  readonly textOf: (script: string) => string;
  /** All that a script can print; null if it may print what its text does not show. */
  readonly edgesOf: (script: string) => readonly Edge[] | null;
}

/** Reads a workflow, once for all its scenarios. */
export function readingOf(workflow: Workflow): Promise<Reading> {
  const reading = KNOWN.get(workflow) ?? read(workflow);
  KNOWN.set(workflow, reading);
  return reading;
}

const KNOWN = new WeakMap<Workflow, Promise<Reading>>();

async function read({ path, platform }: Workflow): Promise<Reading> {
  const circumstances = { platform, resetStack: DEFAULT_OPTIONS.resetStack, variables: [] };
  const { sheet } = await readSheet(path, circumstances);
  let drawn: Graph | undefined;
  const findings = lint(await withScriptFaults(sheet)).filter(isHidden);
  const texts = new Map(sheet.files.flatMap((each) => (each.kind === 'state' ? [[each.file, each.state.text]] : [])));
  const textOf = (state: string): string => texts.get(state) ?? '';
  return {
    textOf,
    faultsOf: (state) => findings.filter(({ file }) => file === state),
    edgesOf: (script) => {
      drawn ??= buildGraph(sheet);
      const { nodes, edges } = drawn;
      const isOpen = nodes.some(({ state, open }) => state === script && open);
      return isOpen || !speaksForItself(script, textOf(script)) ? null : edges.filter(({ from }) => from === script);
    },
  };
}

/** What a run in earnest would meet, but canned answers pass by: an answer is not made of the words of its state. */
const isHidden = ({ level, rule }: LintFinding): boolean =>
  level === 'error' || rule === 'missing-state' || rule === 'unmentioned-entry';

/**
 * Whether nobody but the script itself prints what it prints: no program that we know nothing about, and no other file that
 * is read in. Only then can it be said for certain that it does not print something.
 */
function speaksForItself(file: string, text: string): boolean {
  const script = file.endsWith('.sh') ? parseScript(text) : undefined;
  if (script === undefined) return false;
  const heard = linesOf(script).filter((line) => line.heard);
  const own = new Set(heard.map(({ within }) => within));
  return heard.every(({ words, redirects }) => {
    const { name } = nameOf(words);
    return own.has(name) || !(speechOf(words, redirects).foreign || name === 'source' || name === '.');
  });
}
