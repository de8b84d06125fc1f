import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { REPLAY_MODEL } from '../src/turns/replay/output.ts';
import type { CrashTrial } from './crash-trial.ts';
import { processesOf } from './processes.ts';
import { type Ledger, type Rig, textOf } from './rig.ts';
import { CANCELLED, EFFECTS, FILES, REPEATABLE } from './workflow.ts';

/** The traces of a run on disk, at the API and in the process table. */
export interface Evidence {
  readonly document: Document | null;
  readonly events: readonly RunEvent[];
  readonly effects: readonly Effect[];
  readonly files: Readonly<Record<string, string>>;
  readonly ledger: Ledger;
  /** The charges of the API in total, and for answers that Claude Code was killed before it reported. */
  readonly chargedMicros: number;
  readonly unreportedMicros: number;
  readonly requests: number;
  readonly leftoverProcesses: number;
  readonly failures: readonly string[];
}

interface Document {
  readonly status: string;
  readonly results: Readonly<Record<string, string>>;
  readonly transitions: readonly {
    readonly agent: string;
    readonly from: string;
    readonly tag: string;
    readonly to: string;
  }[];
}

interface RunEvent {
  readonly kind: string;
  readonly agent?: string;
  readonly state?: string;
  readonly failure?: string | null;
  readonly why?: string;
  readonly message?: string;
  readonly estimated?: boolean;
  readonly costMicros?: number;
}

/** A line in the file of side effects: `begin`, `end` or `tool`, the state, and the turn. */
interface Effect {
  readonly what: string;
  readonly where: string;
  readonly turn: string;
}

/** Collects the traces of a run after its end. */
export async function collectEvidence(rig: Rig): Promise<Evidence> {
  const failures: string[] = [];
  const again = await rig.command(['resume', rig.id, '--json']).ended;
  if (again.code !== 0)
    failures.push(`a resume of the ended run exits with ${again.code}: ${again.stderr.slice(-300)}`);
  const document = again.code === 0 ? (JSON.parse(again.stdout) as Document) : null;
  const { journal, state, turns } = await rig.traces();
  const events = journalEvents(journal, state.seq, failures);
  const lines = (await textOf(rig.cwd, EFFECTS)).split('\n').filter((line) => line !== '');
  const effects = lines.map((line) => {
    const [what = '', where = '', turn = ''] = line.split(' ');
    return { what, where, turn };
  });
  const files = Object.fromEntries(await Promise.all(FILES.map(async (name) => [name, await textOf(rig.cwd, name)])));
  for (let tries = 0; tries < 50 && rig.api.requests.some((each) => each.chargedUsd === 0); tries += 1) await delay(50);
  // What was killed takes a moment to go, on a busy machine.
  for (let tries = 0; tries < 100 && processesOf(rig.id).length > 0; tries += 1) await delay(50);
  const reported = await reportedMessageIds(turns);
  const unreported = rig.api.requests.filter((_, index) => !reported.has(`msg_${index + 1}`));
  const canned = await cannedCosts(turns);
  return {
    document,
    events,
    effects,
    files,
    ledger: state.ledger,
    chargedMicros: micros(rig.api.chargedUsd()) + canned.reduce((sum, each) => sum + each, 0),
    unreportedMicros: micros(unreported.reduce((sum, each) => sum + each.chargedUsd, 0)),
    requests: rig.api.requests.length + canned.length,
    leftoverProcesses: processesOf(rig.id).length,
    failures,
  };
}

const micros = (usd: number): number => Math.round(usd * 1_000_000);

/** Reads the journal; every line must be a step, without a gap up to the step of the state file. */
function journalEvents(text: string, lastSeq: number, failures: string[]): readonly RunEvent[] {
  const events: RunEvent[] = [];
  let expected = 0;
  for (const line of text.split('\n').slice(0, -1)) {
    try {
      const step = JSON.parse(line);
      if (step.seq !== expected) failures.push(`the journal has step ${step.seq} where ${expected} should be`);
      expected = step.seq + 1;
      events.push(...step.events);
    } catch {
      failures.push(`a line of the journal is not JSON: ${line.slice(0, 80)}`);
    }
  }
  if (!text.endsWith('\n')) failures.push('the journal ends in the middle of a line');
  if (expected - 1 !== lastSeq)
    failures.push(`the journal ends with step ${expected - 1}, the state file with ${lastSeq}`);
  return events;
}

/** The ids of all messages that Claude Code reported before it ended or was killed; the API counts them from 1. */
async function reportedMessageIds(folders: readonly string[]): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const turns of folders)
    for (const turn of await readdir(turns))
      for (const [id] of (await textOf(turns, turn, 'stdout')).matchAll(/msg_\d+/g)) ids.add(id);
  return ids;
}

/** The costs in micro-dollars of all canned answers that turns finished, including turns that were withdrawn and run again elsewhere. */
async function cannedCosts(folders: readonly string[]): Promise<readonly number[]> {
  const costs = new Map<string, number>();
  for (const turns of folders)
    for (const turn of await readdir(turns)) {
      const output = await textOf(turns, turn, 'stdout');
      const [, usd] =
        (output.includes(`"model":"${REPLAY_MODEL}"`) && output.match(/"total_cost_usd":([\d.e-]+)/)) || [];
      if (usd !== undefined) costs.set(turn, micros(Number(usd)));
    }
  return [...costs.values()];
}

/** Compares a run with an undisturbed one and returns all violations of the guarantees. */
export function checkTrial(trial: CrashTrial, evidence: Evidence, baseline: Evidence): readonly string[] {
  const isHomeLost = trial.kills.some(({ target }) => target === 'home');
  const onlyOrchestrator = trial.kills.every(({ target }) => target === 'orchestrator');
  return [
    ...evidence.failures,
    ...(trial.last === null ? ['it did not end'] : []),
    ...trial.exits.flatMap(({ args, code, stderr }) =>
      isExpectedExit(code, stderr) ? [] : [`\`${args[0]}\` exits with ${code}: ${stderr.slice(-400)}`],
    ),
    ...compare('results', evidence.document?.results, baseline.document?.results),
    ...compare('transitions', paths(evidence), paths(baseline)),
    ...compare('files', evidence.files, baseline.files),
    ...compare('finished turns', finished(evidence), finished(baseline)),
    ...(evidence.leftoverProcesses === 0 ? [] : [`${evidence.leftoverProcesses} processes are left`]),
    ...evidence.events.filter(({ kind }) => kind === 'agent_failed').map(({ agent }) => `${agent} failed`),
    ...startedTwice(evidence),
    ...(onlyOrchestrator ? exactlyOnce(evidence, baseline) : atLeastOnce(evidence, baseline, isHomeLost)),
  ];
}

/** Accepts success, a pause whose message says how to resume, and a question whose message says how to answer. */
const isExpectedExit = (code: number | null, stderr: string): boolean =>
  code === 0 ||
  (code === 3 &&
    stderr.includes('raymond resume') &&
    /--retry|its workspace cannot be made: git was killed/.test(stderr)) ||
  (code === 2 && stderr.includes('raymond answer'));

/** Checks a run of which only the orchestrator was killed: nothing may differ. */
function exactlyOnce(evidence: Evidence, baseline: Evidence): readonly string[] {
  const { ledger, chargedMicros } = evidence;
  const failedTurns = evidence.events.filter(
    ({ kind, state, failure, costMicros }) =>
      kind === 'turn_ended' && failure != null && state !== CANCELLED && !(failure === 'lost' && costMicros === 0),
  );
  return [
    ...compare('side effects', tally(evidence.effects), tally(baseline.effects)),
    // What is said while an answer is being written gets one of its own.
    ...(evidence.events.some(({ kind }) => kind === 'said')
      ? []
      : compare('requests to the API', evidence.requests, baseline.requests)),
    ...compare('the ledger and what the API charged', ledger.spentMicros, chargedMicros),
    ...compare('estimates', ledger.estimatedMicros, 0),
    ...failedTurns.map(({ agent, state, failure }) => `a turn of ${agent} in ${state} failed: ${failure}`),
  ];
}

/**
 * Checks a run of which turns were killed: a script runs once more for each `--retry` after it was found dead, and
 * never otherwise; a tool's effect is there at least once; the ledger lacks no more than unreported answers and the
 * errors of estimates.
 */
function atLeastOnce(evidence: Evidence, baseline: Evidence, isHomeLost: boolean): readonly string[] {
  const now = tally(evidence.effects);
  const interruptions = tally(
    evidence.events
      .filter(({ kind, why }) => kind === 'agent_paused' && why === 'interrupted')
      .map(({ state = '' }) => ({ what: 'begin', where: state, turn: '' })),
  );
  const wrong = Object.entries(tally(baseline.effects)).flatMap(([effect, count]) => {
    const found = now[effect] ?? 0;
    if (found < count) return [`side effect "${effect}" happened ${found} times, not ${count}`];
    const max =
      effect.startsWith('tool') || REPEATABLE.has(effect.split(' ')[1] ?? '')
        ? Number.POSITIVE_INFINITY
        : count + (interruptions[effect.replace('end', 'begin')] ?? 0);
    return found > max ? [`side effect "${effect}" happened ${found} times, but at most ${max} are allowed`] : [];
  });
  const each = baseline.requests === 0 ? 0 : baseline.chargedMicros / baseline.requests;
  const estimates = evidence.events.filter(({ estimated }) => estimated).length;
  const [least, most] = isHomeLost ? [0, each * MOST_REQUESTS * estimates] : [-each * estimates, each * estimates];
  const off = isHomeLost ? unknownMicros(evidence) : offMicros(evidence);
  return [...wrong, ...(off >= least && off <= most ? [] : [`the ledger is off by ${off} micro-dollars`])];
}

/** The most answers that a turn needs. */
const MOST_REQUESTS = 4;

/** What was charged and is not known to the ledger: only turns whose worker was gone, which may have come to any point. */
const unknownMicros = ({ ledger, chargedMicros }: Evidence): number =>
  chargedMicros - (ledger.spentMicros - ledger.estimatedMicros);

/** The error of the ledger, not counting unreported answers. */
export const offMicros = ({ ledger, chargedMicros, unreportedMicros }: Evidence): number =>
  ledger.spentMicros - (chargedMicros - unreportedMicros);

/** Finds turns that were started more than once: their marker is in several `begin` lines. */
function startedTwice({ effects }: Evidence): readonly string[] {
  const begun = tally(
    effects.filter(({ what }) => what === 'begin').map((effect) => ({ ...effect, where: effect.turn })),
  );
  return Object.entries(begun).flatMap(([turn, count]) => (count > 1 ? [`${turn} was started ${count} times`] : []));
}

function finished({ events }: Evidence): Readonly<Record<string, number>> {
  const done = events.filter(({ kind, failure }) => kind === 'turn_ended' && failure === null);
  return tally(done.map(({ agent = '', state = '' }) => ({ what: agent, where: state, turn: '' })));
}

function paths({ document }: Evidence): Readonly<Record<string, readonly string[]>> {
  const found: Record<string, string[]> = {};
  for (const { agent, from, tag, to } of document?.transitions ?? []) {
    found[agent] = [...(found[agent] ?? []), `${from} ${tag} ${to}`];
  }
  return sorted(found);
}

function tally(effects: readonly Effect[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { what, where } of effects) counts[`${what} ${where}`] = (counts[`${what} ${where}`] ?? 0) + 1;
  return sorted(counts);
}

const sorted = <T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

function compare(what: string, found: unknown, wanted: unknown): readonly string[] {
  const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)];
  return is === should ? [] : [`${what}: ${is} instead of ${should}`];
}
