import type { ClaudeTurn } from '../../core/due.ts';
import { microsOf } from '../../core/ledger.ts';
import type { Answered, Failed } from '../../core/signal.ts';
import type { State } from '../../core/state.ts';
import type { Answer } from '../../scenario/scenario.ts';
import type { Backend, ScriptTaker } from '../backend.ts';
import { tellDoings } from '../claude/activity.ts';
import { type Ending, type Outcome, outcomeOf } from '../claude/outcome.ts';
import { promptOf } from '../claude/prompt.ts';
import { lookUpFolders } from '../folders.ts';
import { actsOf } from './acts.ts';
import { FALLS } from './failures.ts';
import { actLine, doneLine, initLine, resultLine } from './lines.ts';
import { TurnRecord } from './record.ts';
import { PlayedScripts } from './script.ts';
import {
  answerFor,
  clearedFolder,
  mayCrash,
  mustHaveSession,
  pass,
  type Stage,
  unlessUnplayable,
  warningsOf,
  writeFile,
} from './stage.ts';

/** Plays Claude Code, and the scripts that are in the file, with canned answers. Nothing is started. */
export class ReplayBackend implements Backend {
  private readonly stage: Stage;
  private readonly scripts: ScriptTaker;
  /** What the author has been told already. */
  private readonly warned = new Set<string>();

  constructor(stage: Stage) {
    this.stage = stage;
    this.scripts = new PlayedScripts(stage);
  }

  standIn(script: string): ScriptTaker | undefined {
    const { parts, scripts } = this.stage.scenario;
    return parts.has(script) || scripts === 'played' ? this.scripts : undefined;
  }

  async prepare(turn: ClaudeTurn, state: State): Promise<readonly string[]> {
    // Who will not be let in needs no answer.
    const isRefused = state.rules.maxVisits !== null && turn.visit > state.rules.maxVisits;
    const { unknown } = isRefused ? NOTHING_UNKNOWN : answerFor(this.stage, turn);
    const { stdin, warnings } = promptOf(turn, state.text);
    await this.stage.desk.makeFolder(turn, { stdin });
    const news = [...warnings, ...warningsOf(this.stage, turn, unknown)].filter((told) => !this.warned.has(told));
    for (const warning of news) this.warned.add(warning);
    return news;
  }

  take(turn: ClaudeTurn, life: 'this' | 'earlier'): Promise<Answered | Failed> {
    return unlessUnplayable(this.stage, turn, async () => {
      const dir = await clearedFolder(this.stage, turn, life);
      const { answer } = answerFor(this.stage, turn);
      mustHaveSession(this.stage, turn, answer);
      const record = new TurnRecord(dir, tellDoings(this.stage.desk.notice, turn.agent));
      const ending = await this.play(turn, answer, record).finally(() => record.flush());
      await mayCrash(this.stage, answer, life);
      return this.signalOf(turn, answer, judge(answer, record, ending, this.stage.clock.now()));
    });
  }

  /** Prints what Claude Code would have printed, and does with files what it would have done, in its time. */
  private async play(turn: ClaudeTurn, answer: Answer, record: TurnRecord): Promise<Ending> {
    const session = turn.record?.session?.id ?? '';
    const acts = actsOf(answer);
    if (answer.fail !== 'session_lost') record.print(initLine(session, turn.cwd));
    const timePasses = (): Promise<boolean> => {
      if (answer.seconds > 0) record.flush();
      return pass(this.stage, answer, Math.max(1, acts.length));
    };
    if (acts.length === 0 && !(await timePasses())) return 'stopped';
    for (const [index, act] of acts.entries()) {
      record.print(actLine(act, index + 1, session));
      if (!(await timePasses())) return 'stopped';
      if (act.file !== null) writeFile(this.stage, turn, act.file);
      const done = doneLine(act, index + 1, session);
      if (done !== null) record.print(done);
    }
    if (answer.fail === null) {
      record.print(resultLine(answer, session));
      return 'itself';
    }
    const { lines, ending } = FALLS[answer.fail](answer, session, this.stage.clock.now());
    record.print(...lines);
    return ending;
  }

  private async signalOf(turn: ClaudeTurn, answer: Answer, outcome: Outcome): Promise<Answered | Failed> {
    const { agent } = turn;
    const at = this.stage.clock.now();
    // Of a turn without a result nobody knows what it has cost, but the file does.
    const cost = { kind: outcome.cost.kind, micros: microsOf(answer.costUsd) };
    if (outcome.kind === 'failed') {
      const { failure } = outcome;
      if (failure.kind === 'stopped') return { ...outcome, at, agent, jitter: 0 };
      const untilMs = at + Math.round(answer.resetsInSeconds * 1000);
      const limited = failure.kind === 'usage_limit' ? { ...failure, untilMs } : failure;
      return { ...outcome, at, agent, failure: limited, cost, jitter: 0 };
    }
    const { text, denials } = outcome;
    const [scope, folders] = await Promise.all([this.stage.desk.scope(), lookUpFolders(text, turn.policy, turn.cwd)]);
    return { kind: 'answered', at, agent, text, denials, cost, scope, folders };
  }
}

const NOTHING_UNKNOWN = { unknown: [] };

/** What becomes of a canned turn, by the rules that hold for a real one. */
function judge({ fail }: Answer, { transcript }: TurnRecord, ending: Ending, endedAtMs: number): Outcome {
  return outcomeOf({
    transcript,
    ending,
    exitCode: fail === null ? 0 : 1,
    stderr: '',
    silence: 'no output for too long',
    resumable: true,
    endedAtMs,
    probes: 0,
    cost: { savedUsd: null, prices: {} },
  });
}
