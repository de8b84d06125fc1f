import { appendFileSync, existsSync, linkSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Event, Transitioned, TurnEnded } from '../core/run/event.ts';
import { microsToUsd } from '../core/run/ledger.ts';
import { type TurnRef, turnRefOf } from '../core/turns/due.ts';
import { errorCodeOf, errorMessageOf } from '../errors.ts';
import { isPrompt, stem } from '../language/state-names.ts';
import { formatJson } from '../language/text/json.ts';
import { AgentLabels } from './agent-labels.ts';
import { formatDollars, formatFollowedTags, formatJoined, formatLocalTime, formatTokenKinds } from './format.ts';
import { sanitize, sanitizeLine } from './sanitize.ts';

/** The folder of a run's debug files, and the folder in which each turn keeps its own files. */
export interface DebugPaths {
  readonly folder: string;
  readonly turnFolder: (turn: TurnRef) => string;
}

/**
 * Keeps a readable history of a run: each turn's raw output under a plain name, and `transitions.log`. It never fails the
 * run: only the first error is reported, as a warning. It writes synchronously, because a few short calls per step cost
 * less than scheduling them.
 */
export class DebugFiles {
  private readonly paths: DebugPaths;
  private readonly log: TransitionsLog;
  private readonly warn: (message: string) => void;
  private hasWarned = false;
  private waiting: Event[] = [];

  constructor(paths: DebugPaths, spentMicros: number, warn: (message: string) => void, labels = new AgentLabels()) {
    this.paths = paths;
    this.log = new TransitionsLog(spentMicros, labels);
    this.warn = warn;
    this.attempt(() => mkdirSync(paths.folder, { recursive: true, mode: 0o700 }));
  }

  /** Writes what these events add to the debug files in a moment, so that what is due now can start before. */
  writeSoon(events: readonly Event[]): void {
    if (this.waiting.length === 0) setImmediate(() => this.flush());
    this.waiting.push(...events);
  }

  /** Writes what waits. */
  flush(): void {
    const events = this.waiting;
    this.waiting = [];
    if (events.length > 0) this.write(events);
  }

  /** Writes what these events add to the debug files. */
  write(events: readonly Event[]): void {
    const entries = events.map((event) => this.log.formatEntry(event) ?? '').join('');
    const ended = events.filter((event) => event.kind === 'turn_ended');
    for (const event of ended) this.linkTurnOutput(event);
    const file = join(this.paths.folder, 'transitions.log');
    if (entries !== '') this.attempt(() => appendFileSync(file, entries, { mode: 0o600 }));
  }

  /** Links the turn's output here: hard links cost no space and outlive the turn's own files. Empty stderr gets none. */
  private linkTurnOutput(event: TurnEnded): void {
    const turn = turnRefOf(event);
    const { agent, number, state } = turn;
    const folder = this.paths.turnFolder(turn);
    const name = sanitizeLine(`${agent}_${stem(state).replaceAll('/', '_')}_${String(number).padStart(3, '0')}`);
    this.linkFile(join(folder, 'stdout'), `${name}.${isPrompt(state) ? 'jsonl' : 'txt'}`, event);
    const stderr = join(folder, 'stderr');
    this.attempt(() => statSync(stderr).size > 0 && this.linkFile(stderr, `${name}.stderr`, event));
  }

  /** Links a file, once what it is stands in the index: the index may name a file twice, but knows every one. */
  private linkFile(source: string, name: string, event: TurnEnded): void {
    const target = join(this.paths.folder, name);
    this.attempt(() => {
      if (!existsSync(source) || existsSync(target)) return;
      appendFileSync(join(this.paths.folder, 'index.jsonl'), `${formatIndexEntry(name, event)}\n`, { mode: 0o600 });
      linkSync(source, target);
    });
  }

  private attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (this.hasWarned || isExpected(error)) return;
      this.hasWarned = true;
      this.warn(`debug files cannot be written: ${errorMessageOf(error)}`);
    }
  }
}

/** The facts about a debug file, as a line of `index.jsonl`. */
function formatIndexEntry(file: string, event: TurnEnded): string {
  const { at, agent, state, evaluator, turn, session, costMicros, durationMs, failure } = event;
  return formatJson({
    file,
    agent,
    state,
    evaluator,
    turn,
    started_at: new Date(at - durationMs).toISOString(),
    ended_at: new Date(at).toISOString(),
    session_id: session,
    cost_usd: microsToUsd(costMicros),
    failure,
  });
}

/** A turn that never started has no output, and after a crash a link may exist already. */
const isExpected = (error: unknown): boolean => ['ENOENT', 'EEXIST'].includes(errorCodeOf(error));

/** Formats the entries of `transitions.log`: which agent went where, in which session, at what cost. */
export class TransitionsLog {
  private spentMicros: number;
  private readonly labels: AgentLabels;

  constructor(spentMicros: number, labels = new AgentLabels()) {
    this.spentMicros = spentMicros;
    this.labels = labels;
  }

  /** The entry for an event, or null if it gets none. */
  formatEntry(event: Event): string | null {
    if (event.kind === 'turn_ended' || event.kind === 'cost_corrected') this.spentMicros = event.spentMicros;
    this.labels.observe(event);
    if (event.kind === 'agent_ended') this.labels.forget(event.agent);
    const head = formatEntryHead(event);
    if (head === null) return null;
    // The stderr of a script may have several lines, and each detail has one.
    const details = this.formatEntryDetails(event).map((detail) => detail.trim().replace(/\s*\n\s*/g, ' / '));
    const lines = [head, ...details].join('\n  ');
    const agent = 'agent' in event ? event.agent : event.kind === 'run_stopping' ? event.refused?.agent : undefined;
    const label = agent === undefined ? '' : `[${this.labels.of(agent)}] `;
    return sanitize(`${formatLocalTime(event.at)} ${label}${lines}\n\n`);
  }

  private formatEntryDetails(event: Event): readonly string[] {
    if (event.kind === 'visit_limit') return formatRefusal(`max_visits ${event.maxVisits}`);
    if (event.kind === 'run_stopping') return event.refused === undefined ? [] : formatRefusal('max_iterations');
    if (event.kind === 'answer_withheld')
      return [
        `requested: ${formatFollowedTags(event.requested) || 'nothing valid'}`,
        ...formatRefusal('budget'),
        ...formatPlace(event),
        `cost: ${formatDollars(event.costMicros)}`,
        `total_cost: ${formatDollars(this.spentMicros)}`,
      ];
    if (event.kind !== 'transition') return [];
    return [
      `requested: ${formatFollowedTags(event.requested) || 'nothing'}`,
      `made: ${formatFollowedTags(event.tags) || `${event.tag} ${event.to}`}`,
      `decided_by: ${formatChoice(event)}`,
      ...formatPlace(event),
      `cost: ${formatDollars(event.costMicros)}`,
      `tokens: ${formatTokenKinds(event.tokens)}`,
      `total_cost: ${formatDollars(this.spentMicros)}`,
      ...(event.depth > 0 ? [`stack_depth: ${event.depth}`] : []),
      ...(event.tag === 'result' ? [`result: ${JSON.stringify(event.input)}`] : []),
    ];
  }
}

/** A transition that was not made, and what kept it from being made. */
const formatRefusal = (limit: string): readonly string[] => ['made: none', `decided_by: ${limit}`];

/** The conversation of a state, and the folder in which its agent continues. */
const formatPlace = ({
  session,
  sessionUse,
  cwd,
}: Pick<Transitioned, 'session' | 'sessionUse' | 'cwd'>): readonly string[] => [
  `session_id: ${session ?? 'none'}${sessionUse === null ? '' : ` (${SESSION_WORDS[sessionUse]})`}`,
  `cwd: ${cwd}`,
];

const SESSION_WORDS = { new: 'new', resume: 'resumed', fork: 'forked' } as const;

function formatChoice({ choice: { by, name, why }, implicit }: Transitioned): string {
  if (by === 'answer') return implicit ? 'policy (implicit)' : 'answer';
  return [[by, name].filter((word) => word !== null).join(' '), why].filter((part) => part !== null).join(': ');
}

function formatEntryHead(event: Event): string | null {
  switch (event.kind) {
    case 'transition':
      return `${event.state} -> ${event.to === null ? `(${event.tag}, terminated)` : `${event.to} (${event.guard === undefined ? event.tag : `on ${event.guard.outcome}`})`}`;
    case 'agent_started':
      return event.parent === null ? null : `forked by ${event.parent}: starts in ${event.state}`;
    case 'joined':
      return formatJoined(event);
    case 'agent_cancelled':
      return `${event.state} cancelled by the join of ${event.by}`;
    case 'agent_failed':
      return `${event.state} failed: ${event.message}`;
    case 'agent_paused':
      return `${event.state} paused: ${event.message}`;
    case 'evaluated':
      return `${event.state}: ${event.evaluator} ${event.verdict === 'confirmed' ? 'confirms' : 'overrides'} ${event.transition}${event.why === null ? '' : `: ${event.why}`}`;
    case 'run_stopping':
      return event.refused === undefined
        ? `the run stops: ${event.stop.kind}`
        : `${event.refused.state}: max_iterations reached, not entered`;
    case 'answer_withheld':
      return `${event.state}: budget reached, transition not followed`;
    case 'visit_limit':
      return `${event.state}: max_visits ${event.maxVisits} reached`;
    default:
      return null;
  }
}
