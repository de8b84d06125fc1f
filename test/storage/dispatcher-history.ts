import type { Agent } from '../../src/core/run/agent.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits } from '../../src/core/run/archive.ts';
import { withChange } from '../../src/core/run/change.ts';
import type { Signal } from '../../src/core/signals/signal.ts';
import { initialEvents, step } from '../../src/core/step.ts';
import { missingAgents } from '../core/random-run.ts';
import { startRun } from '../core/run-driver.ts';
import type { RunHistory } from './run-history.ts';

const FILES = ['DISPATCH.sh', 'WORK.sh', 'END.sh'];
const RULES = { policy: [], maxVisits: null };

/** A run that forks one worker after the other, each of which ends at once, and the agents that it archives. */
export function dispatcherHistory(
  forks: number,
  { kept, batch }: ArchiveLimits = ARCHIVE_LIMITS,
): RunHistory & { readonly archived: readonly Agent[] } {
  const start = startRun({ files: FILES });
  const steps: RunHistory['steps'][number][] = [];
  const archived: Agent[] = [];
  let run = start;
  const apply = (signal: Signal): void => {
    const next = step(run, signal, { kept, batch });
    steps.push({ before: run, ...withChange(run, next) });
    if (next.run.archive !== run.archive) archived.push(...missingAgents(run, next.run));
    run = next.run;
  };
  const takeTurn = (agent: string, text: string): void => {
    const at = 1_000 + 10 * run.seq;
    const scope = { files: FILES, platform: 'unix' } as const;
    apply({ kind: 'began', at, agent, sessionId: 's', rules: RULES, warnings: [] });
    apply({ kind: 'answered', at: at + 5, agent, text, cost: null, denials: [], folders: {}, scope });
  };
  for (let number = 1; number <= forks; number++) {
    takeTurn('main', `<fork next="${number === forks ? 'END' : 'DISPATCH'}" item="i${number}">WORK</fork>`);
    takeTurn(`main_work${number}`, `<result>result ${number}</result>`);
  }
  takeTurn('main', '<result>all done</result>');
  return { run: start, events: initialEvents(start), steps, archived };
}
