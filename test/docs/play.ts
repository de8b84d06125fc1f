import type { SessionUse } from '../../src/core/agent.ts';
import { findNamedFolders } from '../../src/core/answer.ts';
import { due } from '../../src/core/due.ts';
import type { Event } from '../../src/core/event.ts';
import { DEFAULT_OPTIONS } from '../../src/core/options.ts';
import { getAgent, newRun, type Run } from '../../src/core/run.ts';
import { step } from '../../src/core/step.ts';
import { renderTemplate } from '../../src/core/template.ts';
import type { Workflow } from '../../src/workflow/workflow.ts';
import { CWD } from './example.ts';

/** One line of a play: whose turn it is and what it answers are given, the rest follows. */
export interface Line {
  readonly agent: string;
  readonly answer: string;
}

export interface Play {
  readonly run: Run;
  /** The cells of the documentation's table. */
  readonly rows: readonly (readonly string[])[];
  /** Variables that prompts asked for in vain. */
  readonly unknown: readonly string[];
}

/** Plays a workflow with canned answers and tells what happened. */
export async function play(
  workflow: Workflow,
  folders: Readonly<Record<string, string>>,
  lines: readonly Line[],
): Promise<Play> {
  const { name, path, platform, entry: state } = workflow;
  const start = { state, cwd: CWD, input: null, options: DEFAULT_OPTIONS, startedAt: 0 };
  let run = newRun({ id: 'play', workflow: { name, path, platform }, ...start });
  let sessions = 0;
  const rows: string[][] = [];
  const unknown: string[] = [];
  for (const { agent, answer } of lines) {
    const turn = due(run).find((each) => each.agent === agent);
    if (turn === undefined || turn.kind === 'sleep')
      throw new Error(`${agent} has no turn to take after ${rows.length}`);
    const { rules, text } = await workflow.state(turn.state);
    const said = { at: 0, agent };
    const began = step(run, { kind: 'began', ...said, sessionId: `s${sessions + 1}`, rules, warnings: [] });
    const { phase } = getAgent(began.run, agent);
    const cells = [agent, turn.state];
    if (phase.kind !== 'running') {
      rows.push(['–', ...cells, '–', '', '–', then(began.events)]);
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
      ...said,
      text: answer,
      cost: null,
      denials: [],
      scope,
      folders: exist,
    } as const;
    const next = step(began.run, answered);
    run = next.run;
    const number = String(rows.length + 1);
    rows.push([number, ...cells, saySession(phase.turn.session), turn.input ?? '', answer, then(next.events)]);
  }
  return { run, rows, unknown };
}

function saySession(use: SessionUse | null): string {
  if (use === null) return '–';
  if (use.kind === 'fork') return `forks ${use.from} as ${use.id}`;
  return `${use.kind === 'new' ? 'new' : 'resumes'} ${use.id}`;
}

/** What became of a turn, in the words of the documentation. */
function then(events: readonly Event[]): string {
  const said = events.toSorted((a, b) => rank(a) - rank(b)).map(sayEvent);
  const workers = events.filter((event) => event.kind === 'agent_started').map(({ agent }) => agent);
  return [...said, ...(workers.length > 0 ? [`starts ${workers.join(', ')}`] : [])].filter(Boolean).join(', ');
}

const rank = (event: Event): number => (event.kind === 'warning' ? 1 : 0);

function sayEvent(event: Event): string {
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
    case 'warning':
      return `warning: ${event.message}`;
    default:
      return '';
  }
}
