import { type ClaudeTurn, due, type ScriptTurn, type Turn } from '../../src/core/due.ts';
import type { Event, Step } from '../../src/core/event.ts';
import type { CostReport } from '../../src/core/ledger.ts';
import { DEFAULT_OPTIONS, type Options } from '../../src/core/options.ts';
import type { Policy, Rules } from '../../src/core/policy.ts';
import { getAgent, newRun, type Run } from '../../src/core/run.ts';
import type { Answered, Failed, Signal } from '../../src/core/signal.ts';
import type { Scope } from '../../src/core/state-names.ts';
import { initialEvents, step } from '../../src/core/step.ts';

/** A workflow as far as the interpreter sees it: its files and what their frontmatter says. */
export interface Book {
  readonly files: readonly string[];
  readonly rules?: Readonly<Record<string, Partial<Rules>>>;
}

export const scopeOf = (book: Book): Scope => ({ files: book.files, platform: 'unix' });

export function start(book: Book, options: Partial<Options> = {}, input: string | null = null): Run {
  return newRun({
    id: 'run-1',
    workflow: { name: 'book', path: '/w/book', platform: 'unix' },
    startedAt: 1000,
    options: { ...DEFAULT_OPTIONS, ...options },
    state: book.files[0] ?? 'START.md',
    cwd: '/w',
    input,
  });
}

type WorkTurn = ClaudeTurn | ScriptTurn;
export type Reply = Partial<Answered> | { fail: Failed['failure']; progress?: Failed['progress']; cost?: CostReport };

/** Plays a run by hand, one agent's turn after the other, and keeps what was told. */
export class Stage {
  run: Run;
  readonly events: Event[];
  readonly turns: { agent: string; state: string; session: string; input: string | null }[] = [];
  private readonly book: Book;
  private sessions = 0;
  private now = 1000;

  constructor(book: Book, options: Partial<Options> = {}, input: string | null = null) {
    this.book = book;
    this.run = start(book, options, input);
    this.events = [...initialEvents(this.run)];
  }

  say(signal: Signal): Step {
    const next = step(this.run, signal);
    this.run = next.run;
    this.events.push(...next.events);
    return next;
  }

  /** Lets the agent begin its turn and answer it. */
  take(agent: string, reply: string | Reply): this {
    if (this.begin(agent)) this.reply(agent, reply);
    return this;
  }

  /** `main` gives these answers, one a turn. */
  plays(...replies: (string | Reply)[]): this {
    for (const reply of replies) this.take('main', reply);
    return this;
  }

  begin(agent: string): boolean {
    const turn = this.turnOf(agent);
    if (turn === undefined) throw new Error(`no turn of ${agent} is due`);
    const policy: Policy = this.book.rules?.[turn.state]?.policy ?? [];
    const maxVisits = this.book.rules?.[turn.state]?.maxVisits ?? null;
    const reads = turn.kind === 'script' || turn.prompt.kind === 'state';
    const rules = reads ? { policy, maxVisits } : null;
    this.say({ kind: 'began', at: this.tick(), agent, sessionId: `s${this.sessions + 1}`, rules, warnings: [] });
    const { phase } = getAgent(this.run, agent);
    if (phase.kind !== 'running') return false;
    const use = phase.turn.session;
    if (use !== null && use.kind !== 'resume') this.sessions++;
    const session =
      use === null ? 'none' : use.kind === 'fork' ? `fork ${use.from} ${use.id}` : `${use.kind} ${use.id}`;
    this.turns.push({ agent, state: turn.state, session, input: turn.input });
    return true;
  }

  reply(agent: string, reply: string | Reply): this {
    const at = this.tick();
    const scope = scopeOf(this.book);
    if (typeof reply === 'object' && 'fail' in reply) {
      const { fail: failure, progress = 'none', cost = null } = reply;
      this.say({ kind: 'failed', at, agent, failure, cost, progress, jitter: 0 });
    } else {
      const given = typeof reply === 'string' ? { text: reply } : reply;
      this.say({ kind: 'answered', at, agent, text: '', cost: null, denials: [], folders: {}, scope, ...given });
    }
    return this;
  }

  resume(options: Partial<Options> = {}, retry = false): this {
    this.say({ kind: 'resumed', at: this.tick(), options, retry, scope: scopeOf(this.book) });
    return this;
  }

  wake(agent: string): this {
    const { phase } = getAgent(this.run, agent);
    const at = phase.kind === 'sleeping' ? phase.untilMs : this.tick();
    this.say({ kind: 'woke', at, agent });
    return this;
  }

  agent(id = 'main') {
    return getAgent(this.run, id);
  }

  /** The sessions of all Claude turns so far, as `new s1`, `resume s1`, `fork s1 s2`. */
  get sessionsUsed(): string[] {
    return this.turns.map(({ session }) => session).filter((session) => session !== 'none');
  }

  told<Kind extends Event['kind']>(kind: Kind): Extract<Event, { kind: Kind }>[] {
    return this.events.filter((event): event is Extract<Event, { kind: Kind }> => event.kind === kind);
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

export const usd = (dollars: number): CostReport => ({
  kind: 'reported',
  micros: dollars * 1_000_000,
});
