import type { EarlierRun } from '../core/rerun.ts';
import { type Agent, recordedTurn } from '../core/run/agent.ts';
import { applyInPlace, type Draft } from '../core/run/change.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { parseRunStart, validateRun } from './run-schema.ts';
import type { JournalReader } from './storage.ts';

/**
 * Rebuilds a run from its journal as it was before a step, or after it. Throws a RaymondError if the journal does not say how the run began.
 */
export async function readRunBefore(
  journal: Pick<JournalReader, 'read'>,
  id: string,
  seq: number,
  after = false,
): Promise<EarlierRun> {
  let draft: Draft | undefined;
  let at = 0;
  const beforeTurns = new Map<string, Agent>();
  for await (const step of journal.read(id)) {
    const { change } = step;
    if (draft === undefined) {
      if (change.start === undefined) throw noStartError(id);
      const { run } = parseRunStart(change.start, `the journal of ${id}`);
      draft = structuredClone(run) as Draft;
      at = run.startedAt;
      continue;
    }
    at = change.events[0]?.at ?? at;
    if (step.seq === seq && !after) break;
    for (const event of change.events) {
      if (event.kind !== 'turn_started') continue;
      const agent = draft.agents.find((each) => each.id === event.agent);
      if (agent !== undefined) beforeTurns.set(event.agent, structuredClone(agent) as Agent);
    }
    applyInPlace(draft, change);
    if (step.seq === seq) break;
  }
  if (draft === undefined) throw noStartError(id);
  const run = validateRun(draft, `the journal of ${id}`);
  const underWay = new Set(run.agents.filter(({ phase }) => recordedTurn(phase) !== null).map((agent) => agent.id));
  for (const agent of beforeTurns.keys()) if (!underWay.has(agent)) beforeTurns.delete(agent);
  return { run, at, beforeTurns };
}

const noStartError = (id: string): RaymondError =>
  new RaymondError(`The journal of run ${id} does not say how the run began.`, {
    exitCode: EXIT.usage,
    hint: 'An older Raymond started it, or its journal was moved away. It can be resumed, or started anew.',
  });
