import type { SessionUse } from '../../core/agent.ts';
import type { ClaudeTurn } from '../../core/due.ts';
import type { Failure } from '../../core/failure.ts';
import { choose } from '../../core/preference.ts';
import type { Options } from '../../core/run.ts';
import type { Answered, Failed } from '../../core/signal.ts';
import type { State } from '../../core/state.ts';
import { type Command, MARKER } from '../../process/command.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { followLines, lastLines } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { Backend } from '../backend.ts';
import { type Desk, markerOf } from '../desk.ts';
import { lookUpFolders } from '../folders.ts';
import { NOTE_FILE, noteOf, readNote, silenceOf } from '../note.ts';
import { adoptTurn, type Care, type ProcessEnd, runTurn } from '../process-turn.ts';
import { stagger } from '../stagger.ts';
import { tellDoings } from './activity.ts';
import { claudeArguments } from './argv.ts';
import { readBasis, writeBasis } from './basis.ts';
import { claudeEnvironment } from './environment.ts';
import { readEvent } from './events.ts';
import { type Ending, outcomeOf } from './outcome.ts';
import { learnPrices, type Prices } from './prices.ts';
import { Probes } from './probes.ts';
import { promptOf } from './prompt.ts';
import { hasMessages, sessionFile } from './session-file.ts';
import { EMPTY_TRANSCRIPT, hear, modelCosts, saidAll, type Transcript } from './transcript.ts';
import type { ClaudeCode } from './version.ts';

/** What Claude Code needs to know about the run it works for. */
export interface ClaudeLaunch {
  readonly desk: Desk;
  readonly options: Options;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where Claude Code keeps its conversations. */
  readonly config: string;
  /** Finds Claude Code, or throws a RaymondError that says what to do. */
  readonly find: () => Promise<ClaudeCode>;
  readonly kill: AbortSignal;
}

/** Several Claude Codes that start at once fight over one settings file. */
const START_GAP_MS = 100;
/** How long Claude Code may stay after its result, where it may be silent for so long at all. */
const LEAVE_GRACE_MS = 10_000;

/** Claude Code as the one who answers prompts. */
export class ClaudeBackend implements Backend {
  private readonly launch: ClaudeLaunch;
  private readonly ready = new Map<string, { readonly state: State; readonly budgetMicros: number | null }>();
  private readonly goAhead = stagger(START_GAP_MS);
  /** What the author has been told already. */
  private readonly warned = new Set<string>();
  private prices: Prices = {};
  private readonly probes = new Probes();

  constructor(launch: ClaudeLaunch) {
    this.launch = launch;
  }

  async prepare(turn: ClaudeTurn, state: State): Promise<readonly string[]> {
    await this.launch.find();
    const { stdin, warnings } = promptOf(turn, state.text);
    const note = JSON.stringify(noteOf(state, this.launch.options));
    await this.launch.desk.makeFolder(turn, { stdin, [NOTE_FILE]: note });
    this.ready.set(turn.agent, { state, budgetMicros: turn.budgetMicros });
    const news = warnings.filter((warning) => !this.warned.has(warning));
    for (const warning of news) this.warned.add(warning);
    return news;
  }

  async take(turn: ClaudeTurn, life: 'this' | 'earlier'): Promise<Answered | Failed> {
    const { desk, kill } = this.launch;
    const dir = desk.folderOf(turn);
    const use = sessionOf(turn);
    let transcript = EMPTY_TRANSCRIPT;
    let heardAll: Promise<void> = Promise.resolve();
    const { timeoutMs } = readNote(dir);
    const tell = tellDoings(desk.notice, turn.agent);
    const care: Care = {
      marker: markerOf(desk, turn),
      timeoutMs,
      grace: { ms: Math.min(LEAVE_GRACE_MS, timeoutMs ?? LEAVE_GRACE_MS), saidAll: () => saidAll(transcript) },
      kill,
      onRunning(exited) {
        const listen = (line: Buffer): void => {
          const event = readEvent(line.toString('utf8'));
          transcript = hear(transcript, event);
          tell?.(event);
        };
        heardAll = followLines(turnFiles(dir).stdout, listen, { until: exited });
      },
    };
    const end = life === 'this' ? await this.start(turn, use, dir, care) : await adoptTurn(dir, care);
    await heardAll;
    return this.signalOf(turn, use, dir, end, transcript, care);
  }

  private async start(turn: ClaudeTurn, use: SessionUse, dir: string, care: Care): Promise<ProcessEnd> {
    const { config, desk } = this.launch;
    await writeBasis(dir, config, turn.cwd, use, this.prices);
    await this.goAhead();
    return runTurn(dir, await this.commandOf(turn, use, markerOf(desk, turn)), care);
  }

  private async commandOf(turn: ClaudeTurn, session: SessionUse, marker: string): Promise<Command> {
    const { options, env, find } = this.launch;
    const made = this.ready.get(turn.agent);
    if (made === undefined) throw new Error(`the turn of ${turn.agent} was not made ready`);
    this.ready.delete(turn.agent);
    const { path, version } = await find();
    const { permissionMode, skipPermissions } = options;
    const { state, budgetMicros } = made;
    const wishes = choose(turn.preference, state, options);
    const call = { ...wishes, session, permissionMode, skipPermissions, budgetMicros, settings: state, version };
    return {
      file: path,
      args: claudeArguments(call),
      cwd: turn.cwd,
      env: { ...claudeEnvironment(env), [MARKER]: marker },
    };
  }

  /** Judges a turn that is over; nothing of it may still be at work when its conversation is used again. */
  private async signalOf(
    turn: ClaudeTurn,
    use: SessionUse,
    dir: string,
    end: ProcessEnd,
    transcript: Transcript,
    { marker }: Care,
  ): Promise<Answered | Failed> {
    if (end.kind !== 'ended') return neverRan(turn, end);
    const { exit, atMs: at } = end;
    if (exit.kind === 'died' || exit.code !== 0) await endTurn(dir, marker, { graceMs: END_GRACE_MS });
    const outcome = outcomeOf({
      transcript,
      ending: endingOf(end),
      exitCode: exit.kind === 'died' || exit.code > 128 ? null : exit.code,
      stderr: await lastLines(turnFiles(dir).stderr, 20, 4096),
      silence: silenceOf(readNote(dir)),
      resumable: await this.isResumable(turn, use),
      endedAtMs: at,
      probes: this.probes.before(at),
      cost: await readBasis(dir),
    });
    this.prices = learnPrices(this.prices, modelCosts(transcript));
    const said = { at, agent: turn.agent };
    if (outcome.kind === 'failed') {
      const { kind, untilMs } = outcome.failure;
      if (kind === 'usage_limit' && untilMs !== undefined) this.probes.met(at, untilMs);
      return { ...said, ...outcome, jitter: Math.random() };
    }
    this.probes.passed(turn.record?.startedAt ?? 0);
    const { text } = outcome;
    const [scope, folders] = await Promise.all([this.launch.desk.scope(), lookUpFolders(text, turn.policy, turn.cwd)]);
    return { ...said, ...outcome, scope, folders };
  }

  private async isResumable(turn: ClaudeTurn, use: SessionUse): Promise<boolean> {
    const file = await sessionFile(this.launch.config, turn.cwd, use.id);
    return file !== null && hasMessages(file);
  }
}

function sessionOf({ agent, record }: ClaudeTurn): SessionUse {
  if (record?.session == null) throw new Error(`the turn of ${agent} has no session on record`);
  return record.session;
}

/** A process that was found dead by a later life is gone; one that we saw die has failed. */
function endingOf({ exit, ending, adopted }: Extract<ProcessEnd, { kind: 'ended' }>): Ending {
  return adopted && exit.kind === 'died' && ending === 'itself' ? 'gone' : ending;
}

/** A turn of which nothing ran is simply taken again, unless the machine cannot run it. */
function neverRan({ agent }: ClaudeTurn, end: Exclude<ProcessEnd, { kind: 'ended' }>): Failed {
  const failure: Failure =
    end.kind === 'never_started'
      ? { kind: 'lost', message: 'it never started' }
      : { kind: end.transient ? 'transient' : 'invalid_request', message: end.message };
  return { kind: 'failed', at: Date.now(), agent, failure, cost: null, progress: 'none', jitter: Math.random() };
}
