import { setTimeout as delay } from 'node:timers/promises';
import type { JournaledStep, JournalReader } from '../storage.ts';
import type { Database } from './database.ts';
import { nameRun, parseChange } from './run-rows.ts';

const POLL_INTERVAL_MS = 200;
const ROWS_PER_READ = 500;

/** Creates the reader of the journals in a database. */
export function createDatabaseJournal(database: Database): JournalReader {
  return {
    read: (run, after) => readStepRows(database, run, after?.seq ?? -1),
    async *readBackwards(run) {
      for (let before = MAX_SEQ; ; ) {
        const steps = await selectSteps(database, run, 'seq < $2 order by seq desc', before);
        yield* steps;
        const last = steps.at(-1);
        if (last === undefined || steps.length < ROWS_PER_READ) return;
        before = last.seq;
      }
    },
    async *follow(run, after, stop) {
      for (let { seq } = after; ; ) {
        const isLast = stop.aborted;
        for await (const step of readStepRows(database, run, seq)) {
          seq = step.seq;
          yield step;
        }
        if (isLast) return;
        await delay(POLL_INTERVAL_MS, undefined, { signal: stop }).catch(() => {});
      }
    },
    async has(run, { seq, offset }) {
      if (offset !== seq + 1) return false;
      const rows = await database.query('select 1 from raymond.journal where run = $1 and seq = $2', [run, seq]);
      return rows.length > 0;
    },
    readSummary: async () => null,
  };
}

const MAX_SEQ = 2_147_483_647;

/** Reads the steps of a run after a step, in order; holds few of them at a time. */
export async function* readStepRows(database: Database, run: string, afterSeq: number): AsyncGenerator<JournaledStep> {
  for (let after = afterSeq; ; ) {
    const steps = await selectSteps(database, run, 'seq > $2 order by seq', after);
    yield* steps;
    const last = steps.at(-1);
    if (last === undefined || steps.length < ROWS_PER_READ) return;
    after = last.seq;
  }
}

async function selectSteps(
  database: Database,
  run: string,
  which: string,
  seq: number,
): Promise<readonly JournaledStep[]> {
  const rows = await database.query<{ change: string }>(
    `select change from raymond.journal where run = $1 and ${which} limit ${ROWS_PER_READ}`,
    [run, seq],
  );
  return rows.map(({ change: text }) => {
    const { change } = parseChange(text, nameRun(database, run));
    return { seq: change.seq, offset: change.seq + 1, change };
  });
}
