import type { LookedUp } from '../../src/core/answers/looked-up.ts';
import { DEFAULT_OPTIONS, type Options } from '../../src/core/options/options.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits } from '../../src/core/run/archive.ts';
import type { Event, Step } from '../../src/core/run/event.ts';
import type { CostReport } from '../../src/core/run/ledger.ts';
import { getAgent, newRun, type Run } from '../../src/core/run/run.ts';
import type { Answered, Failed, Signal } from '../../src/core/signals/signal.ts';
import { initialEvents, step } from '../../src/core/step.ts';
import { due, type PromptTurn, type ScriptTurn, type Turn } from '../../src/core/turns/due.ts';
import type { NamedFolders } from '../../src/language/named-folders.ts';
import type { Rules } from '../../src/language/policy.ts';
import { compilePattern, type PatternMatch } from '../../src/language/state.ts';
import type { Scope } from '../../src/language/state-names.ts';

/** The part of a workflow that the interpreter uses: its files and their frontmatter. */
export interface TestWorkflow {
  readonly files: readonly string[];
  readonly rules?: Readonly<Record<string, Partial<Rules>>>;
}

/** The scope in which the names of a workflow are resolved. */
export const scopeOfWorkflow = (workflow: TestWorkflow): Scope => ({ files: workflow.files, platform: 'unix' });

/** A new run of a workflow, before its first turn. */
export function startRun(workflow: TestWorkflow, options: Partial<Options> = {}, input: string | null = null): Run {
  return newRun({
    id: 'run-1',
    workflow: { name: 'book', path: '/w/book', platform: 'unix' },
    startedAt: 1000,
    options: { ...DEFAULT_OPTIONS, ...options },
    state: workflow.files[0] ?? 'START.md',
    cwd: '/w',
    input,
  });
}

type WorkTurn = PromptTurn | ScriptTurn;
/** How a turn ends: with an answer or with a failure. */
export type Reply =
  | Partial<Answered>
  | ({ fail: Failed['failure'] } & Partial<
      Pick<Failed, 'progress' | 'cost' | 'reportedSession' | 'model' | 'denials'>
    >);

/** Drives a run by hand, one turn after the other, and collects its events. */
export class RunDriver {
  run: Run;
  readonly events: Event[];
  readonly turns: { agent: string; state: string; session: string; input: string | null }[] = [];
  private readonly workflow: TestWorkflow;
  private readonly limits: ArchiveLimits;
  private sessions = 0;
  private now = 1000;

  constructor(
    workflow: TestWorkflow,
    options: Partial<Options> = {},
    input: string | null = null,
    limits: ArchiveLimits = ARCHIVE_LIMITS,
  ) {
    this.workflow = workflow;
    this.limits = limits;
    this.run = startRun(workflow, options, input);
    this.events = [...initialEvents(this.run)];
  }

  /** Applies a signal to the run. */
  apply(signal: Signal): Step {
    const next = step(this.run, signal, this.limits);
    this.run = next.run;
    this.events.push(...next.events);
    return next;
  }

  /** Begins a turn of the agent and ends it with the reply. */
  runTurn(agent: string, reply: string | Reply): this {
    if (this.begin(agent)) this.reply(agent, reply);
    return this;
  }

  /** Runs one turn of `main` for each reply. */
  answer(...replies: (string | Reply)[]): this {
    for (const reply of replies) this.runTurn('main', reply);
    return this;
  }

  /** Begins the agent's turn; false if the run does not allow it to start. */
  begin(agent: string): boolean {
    const turn = this.turnOf(agent);
    if (turn === undefined) throw new Error(`no turn of ${agent} is due`);
    const stateRules = this.workflow.rules?.[turn.state];
    const reads = turn.kind === 'script' || turn.prompt.kind === 'state';
    const rules = reads ? { policy: [], maxVisits: null, ...stateRules } : null;
    this.apply({ kind: 'began', at: this.tick(), agent, sessionId: `s${this.sessions + 1}`, rules, warnings: [] });
    const { phase } = getAgent(this.run, agent);
    if (phase.kind !== 'running') return false;
    const use = phase.turn.session;
    if (use !== null && use.kind !== 'resume') this.sessions++;
    const session =
      use === null ? 'none' : use.kind === 'fork' ? `fork ${use.from} ${use.id}` : `${use.kind} ${use.id}`;
    this.turns.push({ agent, state: turn.state, session, input: turn.input });
    return true;
  }

  /** Ends the turn that the agent has begun. */
  reply(agent: string, reply: string | Reply): this {
    const at = this.tick();
    const scope = scopeOfWorkflow(this.workflow);
    if (typeof reply === 'object' && 'fail' in reply) {
      const { fail: failure, ...rest } = reply;
      this.apply({ kind: 'failed', at, agent, failure, cost: null, progress: 'none', jitter: 0, ...rest });
    } else {
      const given = typeof reply === 'string' ? { text: reply } : reply;
      const matches = this.matchPatterns(agent, given.text ?? '');
      const answer = { text: '', cost: null, denials: [], folders: {}, scope, matches, ...given };
      this.apply({ kind: 'answered', at, agent, ...answer });
    }
    return this;
  }

  resume(options: Partial<Options> = {}, retry = false, folders: Readonly<Record<string, NamedFolders>> = {}): this {
    const scope = scopeOfWorkflow(this.workflow);
    const lookedUp = Object.fromEntries(
      this.run.agents.map(({ id }): [string, LookedUp] => [id, { scope, folders: folders[id] ?? {} }]),
    );
    this.apply({ kind: 'resumed', at: this.tick(), options, retry, lookedUp });
    return this;
  }

  wake(agent: string): this {
    const { phase } = getAgent(this.run, agent);
    const at = 'untilMs' in phase && phase.untilMs !== null ? phase.untilMs : this.tick();
    this.apply({ kind: 'woke', at, agent });
    return this;
  }

  agent(id = 'main') {
    return getAgent(this.run, id);
  }

  /** The sessions of all Claude turns so far, as `new s1`, `resume s1`, `fork s1 s2`. */
  get sessionsUsed(): string[] {
    return this.turns.map(({ session }) => session).filter((session) => session !== 'none');
  }

  /** The events of one kind, in order. */
  eventsOf<Kind extends Event['kind']>(kind: Kind): Extract<Event, { kind: Kind }>[] {
    return this.events.filter((event): event is Extract<Event, { kind: Kind }> => event.kind === kind);
  }

  private matchPatterns(agent: string, text: string): readonly PatternMatch[] {
    const { rules } = getAgent(this.run, agent);
    return (rules?.evaluators ?? []).map((evaluator) => {
      const pattern = evaluator.kind === 'pattern' ? compilePattern(evaluator.pattern) : null;
      return pattern instanceof RegExp ? pattern.test(text) : null;
    });
  }

  private turnOf(agent: string): WorkTurn | undefined {
    return due(this.run).find((turn): turn is WorkTurn => isWork(turn) && turn.agent === agent);
  }

  private tick(): number {
    this.now += 10;
    return this.now;
  }
}

const isWork = (turn: Turn): turn is WorkTurn => turn.kind !== 'sleep';

/** A reported cost in dollars. */
export const usd = (dollars: number): CostReport => ({
  kind: 'reported',
  micros: dollars * 1_000_000,
});
