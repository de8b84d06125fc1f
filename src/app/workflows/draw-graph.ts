import { relative } from 'node:path';
import { archivedCount } from '../../core/run/archive.ts';
import { ledgerOf, type Run } from '../../core/run/run.ts';
import type { ObservedStatus } from '../../core/run/status.ts';
import { type TurnRef, turnRefOf } from '../../core/turns/due.ts';
import { composeDiagram, type OverlayCounts } from '../../drawing/compose.ts';
import type { Diagram } from '../../drawing/diagram.ts';
import { toMermaid } from '../../drawing/mermaid.ts';
import {
  type PastTurn,
  type ShownAnswer,
  type StateTurns,
  TurnCollector,
  type TurnsByState,
} from '../../drawing/state-turns.ts';
import { TransitionCounter } from '../../drawing/transition-counter.ts';
import { RaymondError } from '../../errors.ts';
import { buildGraph } from '../../graph/build.ts';
import type { Graph } from '../../graph/graph.ts';
import type { WorkflowSource } from '../../graph/workflow-source.ts';
import { isPrompt } from '../../language/state-names.ts';
import { lintSource } from '../../lint/lint.ts';
import { formatCount, formatSpending } from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import type { OutputChunk, RunStorage } from '../../storage/storage.ts';
import { parseClaudeBytes } from '../../turns/claude/event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT } from '../../turns/claude/transcript.ts';
import { callLimitsOf } from '../../wiring/run-workflows.ts';
import { workflowPathError } from '../../workflow/locate.ts';
import { type CallLimits, mergeSources, readWorkflowSet } from '../../workflow/workflow-set.ts';
import type { SourceSettings } from '../../workflow/workflow-source.ts';
import { streamRunEvents } from '../run-files.ts';
import { addBashSyntaxErrors, type LintRequest, limitsOf, readAnalysisSettings } from './lint-workflow.ts';

/** The formats of a drawing. */
export type GraphFormat = 'mermaid' | 'svg' | 'html';

/** A drawing, and a warning about it. */
export interface Drawing {
  /** The name of the workflow, or the id of the run. */
  readonly name: string;
  readonly text: string;
  readonly warning: string | null;
}

/** Draws a workflow (a folder, a zip or a state file), even if it has mistakes. */
export async function drawWorkflow(path: string, format: GraphFormat, request: LintRequest = {}): Promise<Drawing> {
  const cwd = request.cwd ?? process.cwd();
  const source = await readSource(path, readAnalysisSettings(cwd, request), limitsOf(cwd, request));
  if (source.files.every(({ kind }) => kind === 'other')) throw noStatesError(relative(cwd, path) || '.', source);
  return {
    name: source.name,
    text: await draw(composeDiagram(buildDrawableGraph(source)), format, { source, headline: null }),
    warning: null,
  };
}

/** Draws a workflow with the transitions that tests took and those that they did not. */
export async function drawCoverage(
  path: string,
  counts: OverlayCounts,
  headline: string,
  format: GraphFormat,
  { cwd = process.cwd(), ...request }: LintRequest = {},
): Promise<string> {
  const source = await readSource(path, readAnalysisSettings(cwd, request));
  return draw(composeDiagram(buildDrawableGraph(source), { counts, agents: [] }), format, {
    source,
    headline: headline,
  });
}

/** Draws a run, given by its id, a unique beginning of it or `last`, over its workflow as that is now. */
export async function drawRun(runRef: string, format: GraphFormat, storage: RunStorage): Promise<Drawing> {
  const { runs } = storage;
  const { run, observedStatus } = await runs.observe(await runs.resolve(runRef));
  const counter = new TransitionCounter();
  const collector = new TurnCollector();
  for await (const event of streamRunEvents(run.id, storage)) {
    counter.add(event);
    collector.add(event);
  }
  const loaded = await readRunWorkflow(run, storage);
  const graph = loaded.source === null ? emptyGraph(run) : buildDrawableGraph(loaded.source);
  const diagram = composeDiagram(graph, { counts: counter, agents: run.agents });
  const text = await draw({ ...diagram, name: run.id }, format, {
    source: loaded.source,
    headline: formatHeadline(run, observedStatus),
    turns:
      format === 'html'
        ? await addAnswers(collector.states, (turn) => storage.output.read(run.id, turn, 'stdout'))
        : new Map(),
  });
  return { name: run.id, text, warning: loaded.warning };
}

/** Reads the workflow of a run. If it was moved or is damaged, only the recorded steps are drawn. */
async function readRunWorkflow(
  run: Run,
  { runs }: RunStorage,
): Promise<{ readonly source: WorkflowSource | null; readonly warning: string | null }> {
  const { workflow, options } = run;
  const { resetStack, variables } = options;
  try {
    const { platform } = workflow;
    const settings = { platform, resetStack, variables: Object.keys(variables) };
    const { path, root } = await runs.findWorkflow(run);
    const limits = callLimitsOf(options, process.env, run);
    const source = await readSource(path, settings, root === undefined ? limits : { ...limits, root, known: {} });
    return { source, warning: null };
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    return {
      source: null,
      warning: `only the recorded steps are drawn, because the workflow cannot be read: ${error.message}`,
    };
  }
}

const readSource = async (path: string, settings: SourceSettings, limits?: CallLimits): Promise<WorkflowSource> =>
  addBashSyntaxErrors(mergeSources(await readWorkflowSet(path, settings, limits)));

/** The error for a folder without states, with the hint of lint about it. */
function noStatesError(path: string, source: WorkflowSource): RaymondError {
  const hint = lintSource(source).find(({ rule }) => rule === 'missing-entry')?.hint;
  return workflowPathError(`there is no workflow in \`${sanitizeLine(path)}\``, hint);
}

/** Builds the graph. A script with a syntax error goes nowhere, although our parser cannot rule anything out. */
function buildDrawableGraph(source: WorkflowSource): Graph {
  const graph = buildGraph(source);
  const invalidScripts = new Set(
    source.files.flatMap((file) => (file.kind === 'state' && file.syntaxError ? [file.file] : [])),
  );
  return {
    ...graph,
    nodes: graph.nodes.map((node) => (invalidScripts.has(node.state) ? { ...node, open: false } : node)),
  };
}

const emptyGraph = ({ workflow }: Run): Graph => ({
  name: workflow.name,
  entry: null,
  nodes: [],
  edges: [],
  evaluatorUses: [],
  mereEvaluators: new Set<string>(),
});

function formatHeadline(run: Run, observedStatus: ObservedStatus): string {
  const { workflow, agents } = run;
  const active = agents.filter(({ phase }) => phase.kind !== 'ended' && phase.kind !== 'failed').length;
  const agentSummary = `${formatCount(agents.length + archivedCount(run), 'agent')}${active > 0 ? `, ${active} of them still active` : ''}`;
  return `${workflow.name}: ${observedStatus.replaceAll('_', ' ')}, ${agentSummary}, ${formatSpending(ledgerOf(run))}`;
}

interface DrawingContext {
  readonly source: WorkflowSource | null;
  readonly headline: string | null;
  readonly turns?: TurnsByState;
}

/** Loads the code for pages and SVG only when it is needed. */
async function draw(
  diagram: Diagram,
  format: GraphFormat,
  { source, headline, turns = new Map() }: DrawingContext,
): Promise<string> {
  switch (format) {
    case 'mermaid':
      return toMermaid(diagram);
    case 'svg':
      return (await import('../../drawing/draw-svg.ts')).toSvg(diagram);
    case 'html': {
      const findings = source === null ? [] : lintSource(source);
      return (await import('../../drawing/html-page.ts')).toHtmlPage(diagram, {
        source,
        findings,
        run: headline,
        turns,
      });
    }
  }
}

/** The answer is in the last lines of a turn's output, so no more of it is read. */
const MAX_READ_BYTES = 1 << 20;
const MAX_ANSWER_LENGTH = 4_000;
/** The size limit of all answers of a page together. */
const MAX_PAGE_LENGTH = 2_000_000;

/** Adds to each turn what it said: as much as a page should hold. */
async function addAnswers(
  states: TurnsByState,
  read: (turn: TurnRef) => AsyncIterable<OutputChunk>,
): Promise<TurnsByState> {
  let left = MAX_PAGE_LENGTH;
  const added = new Map<string, StateTurns>();
  for (const [state, { turns, leftOut }] of states) {
    const answered: PastTurn[] = [];
    for (const turn of turns) {
      const answer = left <= 0 ? null : await readAnswer(read(turnRefOf(turn.end)), turnRefOf(turn.end).state);
      left -= answer?.text.length ?? 0;
      answered.push({ ...turn, answer });
    }
    added.set(state, { turns: answered, leftOut });
  }
  return added;
}

/** The answer of a prompt, or the end of a script's output; null if there is none. */
async function readAnswer(chunks: AsyncIterable<OutputChunk>, state: string): Promise<ShownAnswer | null> {
  const end = await readEnd(chunks).catch(() => null);
  if (end === null) return null;
  if (!isPrompt(state)) return cutBefore(end.bytes.toString('utf8').trimEnd(), !end.isWhole);
  let transcript = EMPTY_TRANSCRIPT;
  for (const line of splitLines(end.bytes, end.isWhole))
    transcript = addClaudeEvent(transcript, parseClaudeBytes(line));
  return cutAfter((transcript.ownResult?.text || transcript.lastText?.text || '').trim());
}

const cutAfter = (text: string): ShownAnswer => ({
  text: text.slice(0, MAX_ANSWER_LENGTH),
  isCut: text.length > MAX_ANSWER_LENGTH,
});

const cutBefore = (text: string, isCut: boolean): ShownAnswer => ({
  text: text.slice(-MAX_ANSWER_LENGTH),
  isCut: isCut || text.length > MAX_ANSWER_LENGTH,
});

/** The lines of the end of a file; its first is not complete, unless the file begins there. */
function* splitLines(bytes: Buffer, isWhole: boolean): Generator<Buffer> {
  let start = isWhole ? 0 : bytes.indexOf('\n') + 1;
  for (let end = bytes.indexOf('\n', start); end >= 0; end = bytes.indexOf('\n', start)) {
    yield bytes.subarray(start, end);
    start = end + 1;
  }
  if (start < bytes.length) yield bytes.subarray(start);
}

/** The last bytes of a stream; null if it does not exist. */
async function readEnd(
  chunks: AsyncIterable<OutputChunk>,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean } | null> {
  let parts: Buffer[] = [];
  let size = 0;
  let isWhole = true;
  let exists = false;
  for await (const { bytes } of chunks) {
    exists = true;
    parts.push(bytes);
    size += bytes.length;
    if (size <= 2 * MAX_READ_BYTES) continue;
    parts = [Buffer.concat(parts).subarray(-MAX_READ_BYTES)];
    size = MAX_READ_BYTES;
    isWhole = false;
  }
  if (!exists) return null;
  return { bytes: Buffer.concat(parts).subarray(-MAX_READ_BYTES), isWhole: isWhole && size <= MAX_READ_BYTES };
}
