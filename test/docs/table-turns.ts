import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import type { SessionUse } from '../../src/core/run/agent.ts';
import type { Event } from '../../src/core/run/event.ts';
import { getAgent, newRun, type Run } from '../../src/core/run/run.ts';
import { step } from '../../src/core/step.ts';
import { due } from '../../src/core/turns/due.ts';
import { findNamedFolders } from '../../src/language/tags/permitted-tags.ts';
import { renderTemplate } from '../../src/language/text/template.ts';
import type { Workflow } from '../../src/workflow/workflow.ts';
import { CWD } from './example.ts';

/** A turn of a table in the documentation: the agent and its answer; the rest follows from them. */
export interface TableTurn {
  readonly agent: string;
  readonly answer: string;
}

/** A run with the rows that the documentation should have about it. */
export interface TableRun {
  readonly run: Run;
  /** The cells of the documentation's table. */
  readonly rows: readonly (readonly string[])[];
  /** Variables in prompts that were not set. */
  readonly unknown: readonly string[];
}

/** Runs a workflow through the turns of a table. */
export async function runTableTurns(
  workflow: Workflow,
  folders: Readonly<Record<string, string>>,
  turns: readonly TableTurn[],
): Promise<TableRun> {
  const { name, path, platform, entry: state } = workflow;
  const start = { state, cwd: CWD, input: null, options: DEFAULT_OPTIONS, startedAt: 0 };
  const workFolders = { run: `${CWD}/run`, task: `${CWD}/{{agent_id}}` };
  let run = newRun({ id: 'table', workflow: { name, path, platform }, workFolders, ...start });
  let sessions = 0;
  const rows: string[][] = [];
  const unknown: string[] = [];
  for (const { agent, answer } of turns) {
    const turn = due(run).find((each) => each.agent === agent);
    if (turn === undefined || turn.kind === 'sleep' || turn.kind === 'workspace')
      throw new Error(`${agent} has no turn to take after ${rows.length}`);
    const { rules, text } = await workflow.state(turn.state);
    const base = { at: 0, agent };
    const began = step(run, { kind: 'began', ...base, sessionId: `s${sessions + 1}`, rules, warnings: [] });
    const { phase } = getAgent(began.run, agent);
    const cells = [agent, turn.state];
    if (phase.kind !== 'running') {
      rows.push(['–', ...cells, '–', '', '–', describeEvents(began.events)]);
      run = began.run;
      continue;
    }
    if (phase.turn.session !== null && phase.turn.session.kind !== 'resume') sessions += 1;
    if (turn.kind === 'claude') unknown.push(...renderTemplate(text, turn.variables).unknown);
    const scope = await workflow.scope();
    const exist = Object.fromEntries(
      findNamedFolders(answer, rules.policy).map((named) => [named, folders[named] ?? null]),
    );
    const answered = {
      kind: 'answered',
      ...base,
      text: answer,
      cost: null,
      denials: [],
      scope,
      folders: exist,
      files: { 'items.txt': { text: 'a\nb\n' } },
    } as const;
    const next = step(began.run, answered);
    run = next.run;
    const number = String(rows.length + 1);
    rows.push([
      number,
      ...cells,
      describeSession(phase.turn.session),
      ('input' in turn ? turn.input : null) ?? '',
      answer,
      describeEvents(next.events),
    ]);
  }
  return { run, rows, unknown };
}

function describeSession(use: SessionUse | null): string {
  if (use === null) return '–';
  if (use.kind === 'fork') return `forks ${use.from} as ${use.id}`;
  return `${use.kind === 'new' ? 'new' : 'resumes'} ${use.id}`;
}

/** Describes the events of a turn as the documentation does. */
function describeEvents(events: readonly Event[]): string {
  const descriptions = events.toSorted((a, b) => rank(a) - rank(b)).map(describeEvent);
  const workers = events.filter((event) => event.kind === 'agent_started').map(({ agent }) => agent);
  return [...descriptions, ...(workers.length > 0 ? [`starts ${workers.join(', ')}`] : [])].filter(Boolean).join(', ');
}

const rank = (event: Event): number => (event.kind === 'warning' ? 1 : 0);

function describeEvent(event: Event): string {
  switch (event.kind) {
    case 'transition':
      return event.to === null ? '' : `→ ${event.to}${event.implicit ? ' (implicit)' : ''}`;
    case 'agent_ended':
      return `ends: ${event.result}`;
    case 'agent_failed':
      return `fails: ${event.message}`;
    case 'reminded':
      return `reminded, ${event.count} of ${event.limit}`;
    case 'visit_limit':
      return `stops: max_visits is ${event.maxVisits}`;
    case 'joining':
      return `waits for ${event.wanted} workers`;
    case 'joined':
      return `${event.agent} continues`;
    case 'warning':
      return `warning: ${event.message}`;
    default:
      return '';
  }
}
