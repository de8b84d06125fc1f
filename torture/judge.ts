import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ordeal } from './ordeal.ts';
import { processesOf } from './processes.ts';
import { type Rig, textOf } from './rig.ts';
import { EFFECTS, FILES } from './workflow.ts';

/** What is left of a run on disk, at the API and in the process table. */
export interface Remains {
  readonly document: Document | null;
  readonly events: readonly RunEvent[];
  readonly effects: readonly Effect[];
  readonly files: Readonly<Record<string, string>>;
  readonly ledger: { readonly spentMicros: number; readonly estimatedMicros: number; readonly turns: number };
  /** What the API has charged in all, and for answers that Claude Code was killed too early to tell us of. */
  readonly chargedMicros: number;
  readonly unheardMicros: number;
  readonly requests: number;
  readonly stragglers: number;
  readonly faults: readonly string[];
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
  readonly estimated?: boolean;
  readonly costMicros?: number;
}

/** A line that something left: `begin`, `end` or `tool`, where, and in which turn. */
interface Effect {
  readonly what: string;
  readonly where: string;
  readonly turn: string;
}

/** Gathers what a run has left behind, once it has ended. */
export async function remainsOf(rig: Rig): Promise<Remains> {
  const faults: string[] = [];
  const again = await rig.command(['resume', rig.id, '--json']).ended;
  if (again.code !== 0) faults.push(`a resume of the ended run exits with ${again.code}: ${again.stderr.slice(-300)}`);
  const document = again.code === 0 ? (JSON.parse(again.stdout) as Document) : null;
  const state = JSON.parse((await textOf(rig.cwd, '.raymond', 'state', `${rig.id}.json`)) || '{}');
  const events = journalEvents(await textOf(rig.cwd, '.raymond', 'runs', rig.id, 'journal.jsonl'), state.seq, faults);
  const lines = (await textOf(rig.cwd, EFFECTS)).split('\n').filter((line) => line !== '');
  const effects = lines.map((line) => {
    const [what = '', where = '', turn = ''] = line.split(' ');
    return { what, where, turn };
  });
  const files = Object.fromEntries(await Promise.all(FILES.map(async (name) => [name, await textOf(rig.cwd, name)])));
  for (let tries = 0; tries < 50 && rig.api.requests.some((each) => each.chargedUsd === 0); tries += 1) await delay(50);
  const heard = await saidToUs(join(rig.cwd, '.raymond', 'runs', rig.id, 'turns'));
  const unheard = rig.api.requests.filter((_, index) => !heard.has(`msg_${index + 1}`));
  return {
    document,
    events,
    effects,
    files,
    ledger: state.ledger,
    chargedMicros: micros(rig.api.chargedUsd()),
    unheardMicros: micros(unheard.reduce((sum, each) => sum + each.chargedUsd, 0)),
    requests: rig.api.requests.length,
    stragglers: processesOf(rig.id).length,
    faults,
  };
}

const micros = (usd: number): number => Math.round(usd * 1_000_000);

/** Every line of the journal must be a step, and the steps must be without a gap up to that of the state file. */
function journalEvents(text: string, lastSeq: number, faults: string[]): readonly RunEvent[] {
  const events: RunEvent[] = [];
  let expected = 0;
  for (const line of text.split('\n').slice(0, -1)) {
    try {
      const step = JSON.parse(line);
      if (step.seq !== expected) faults.push(`the journal has step ${step.seq} where ${expected} should be`);
      expected = step.seq + 1;
      events.push(...step.events);
    } catch {
      faults.push(`a line of the journal is not JSON: ${line.slice(0, 80)}`);
    }
  }
  if (!text.endsWith('\n')) faults.push('the journal ends in the middle of a line');
  if (expected - 1 !== lastSeq)
    faults.push(`the journal ends with step ${expected - 1}, the state file with ${lastSeq}`);
  return events;
}

/** The ids of all messages that Claude Code has told us of, killed or not; the API counts them from 1. */
async function saidToUs(turns: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const turn of await readdir(turns)) {
    for (const [id] of (await textOf(turns, turn, 'stdout')).matchAll(/msg_\d+/g)) ids.add(id);
  }
  return ids;
}

/** What is wrong with a run, seen from one that was left alone. An empty list is what is promised. */
export function judge(ordeal: Ordeal, remains: Remains, unkilled: Remains): readonly string[] {
  const gentle = ordeal.kills.every(({ victim }) => victim === 'orchestrator');
  return [
    ...remains.faults,
    ...(ordeal.last === null ? ['it did not come to its end'] : []),
    ...ordeal.exits.flatMap(({ args, code, stderr }) =>
      sane(code, stderr) ? [] : [`\`${args[0]}\` exits with ${code}: ${stderr.slice(-400)}`],
    ),
    ...same('results', remains.document?.results, unkilled.document?.results),
    ...same('transitions', paths(remains), paths(unkilled)),
    ...same('files', remains.files, unkilled.files),
    ...same('finished turns', finished(remains), finished(unkilled)),
    ...(remains.stragglers === 0 ? [] : [`${remains.stragglers} processes are left`]),
    ...remains.events.filter(({ kind }) => kind === 'agent_failed').map(({ agent }) => `${agent} failed`),
    ...startedTwice(remains),
    ...(gentle ? exactlyOnce(remains, unkilled) : atLeastOnce(remains, unkilled)),
  ];
}

/** A pause must say how to go on; everything else but success is wrong. */
const sane = (code: number | null, stderr: string): boolean =>
  code === 0 || (code === 3 && stderr.includes('resume') && stderr.includes('--retry'));

/** If only the orchestrator was killed: as if nothing had happened. */
function exactlyOnce(remains: Remains, unkilled: Remains): readonly string[] {
  const { ledger, chargedMicros } = remains;
  const failures = remains.events.filter(
    (event) =>
      event.kind === 'turn_ended' && event.failure != null && !(event.failure === 'lost' && event.costMicros === 0),
  );
  return [
    ...same('side effects', tally(remains.effects), tally(unkilled.effects)),
    ...same('requests to the API', remains.requests, unkilled.requests),
    ...same('the ledger and what the API charged', ledger.spentMicros, chargedMicros),
    ...same('estimates', ledger.estimatedMicros, 0),
    ...failures.map(({ agent, state, failure }) => `a turn of ${agent} in ${state} failed: ${failure}`),
  ];
}

/**
 * If turns were killed: a script runs once more for each time that it was found dead and the user said `--retry`, and
 * never otherwise; a tool's effect is there at least once; what is not in the ledger is no more than the answers that
 * nobody heard, and what an estimate is wrong by.
 */
function atLeastOnce(remains: Remains, unkilled: Remains): readonly string[] {
  const now = tally(remains.effects);
  const interruptions = tally(
    remains.events
      .filter(({ kind, why }) => kind === 'agent_paused' && why === 'interrupted')
      .map(({ state = '' }) => ({ what: 'begin', where: state, turn: '' })),
  );
  const wrong = Object.entries(tally(unkilled.effects)).flatMap(([effect, count]) => {
    const found = now[effect] ?? 0;
    if (found < count) return [`side effect "${effect}" happened ${found} times, not ${count}`];
    const most = effect.startsWith('tool')
      ? Number.POSITIVE_INFINITY
      : count + (interruptions[effect.replace('end', 'begin')] ?? 0);
    return found > most ? [`side effect "${effect}" happened ${found} times, at most ${most} may be`] : [];
  });
  const off = offMicros(remains);
  const each = unkilled.chargedMicros / unkilled.requests;
  const estimates = remains.events.filter(({ estimated }) => estimated).length;
  return [...wrong, ...(Math.abs(off) <= each * estimates ? [] : [`the ledger is off by ${off} micro-dollars`])];
}

/** By how much the ledger is wrong, answers aside that nobody heard. */
export const offMicros = ({ ledger, chargedMicros, unheardMicros }: Remains): number =>
  ledger.spentMicros - (chargedMicros - unheardMicros);

/** Each turn runs once at most, whatever happens: its marker stands in one `begin` line. */
function startedTwice({ effects }: Remains): readonly string[] {
  const begun = tally(
    effects.filter(({ what }) => what === 'begin').map((effect) => ({ ...effect, where: effect.turn })),
  );
  return Object.entries(begun).flatMap(([turn, count]) => (count > 1 ? [`${turn} was started ${count} times`] : []));
}

function finished({ events }: Remains): Readonly<Record<string, number>> {
  const done = events.filter(({ kind, failure }) => kind === 'turn_ended' && failure === null);
  return tally(done.map(({ agent = '', state = '' }) => ({ what: agent, where: state, turn: '' })));
}

function paths({ document }: Remains): Readonly<Record<string, readonly string[]>> {
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

function same(what: string, found: unknown, wanted: unknown): readonly string[] {
  const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)];
  return is === should ? [] : [`${what}: ${is} instead of ${should}`];
}
