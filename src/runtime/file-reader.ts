import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { watchFile } from '../process/watch.ts';
import { writeAnswer } from '../store/answer-file.ts';
import { readArchivedAgents } from '../store/archived-agents.ts';
import { findJournalDamage } from '../store/damage.ts';
import { readEvents } from '../store/journal-events.ts';
import { findTailOffset } from '../store/journal-tail.ts';
import type { StoreLayout } from '../store/layout.ts';
import { loadSnapshot } from '../store/load.ts';
import { observeRun } from '../store/observed-run.ts';
import { ownerOf } from '../store/owner.ts';
import { listCheckedRuns, listStoredRuns, resolveRunId } from '../store/runs.ts';
import { removeWordRequest, writeWordRequest } from '../store/word-request.ts';
import { loadHistory } from './history-file.ts';
import { countOpenConversations } from './open-conversations.ts';
import type { RunReader } from './run-reader.ts';

/** How often to check that the owner is still there. */
const OWNER_POLL_INTERVAL_MS = 500;

/** Of a longer journal than this, a status does not check the part that it need not read; a list does. */
const MAX_CHECKED_BYTES = 16 * 1024 * 1024;

/** The runs whose files are in a `.raymond` folder. */
export const createFileReader = (layout: StoreLayout): RunReader => ({
  resolveRunId: (reference) => resolveRunId(layout, reference),
  listRuns: (checksJournals) => (checksJournals ? listCheckedRuns(layout) : listStoredRuns(layout)),
  observeRun: (id) => observeRun(layout, id),
  findDamage: async ({ run, journal }) =>
    journal.offset > MAX_CHECKED_BYTES ? [] : findJournalDamage(run.id, layout.journalFile(run.id), journal),
  readEvents: (id, from) => readEvents(layout, id, from),
  findTail: (id, isEnough) => findTailOffset(layout.journalFile(id), isEnough),
  loadHistory: (id, upToSeq) => loadHistory(layout, id, upToSeq),
  readArchivedAgents: (id, upToSeq) => readArchivedAgents(layout, id, upToSeq),
  countOpenConversations: (id) => countOpenConversations(layout, id),
  async findStart(id, after) {
    const { run, journal } = await loadSnapshot(layout, id);
    const { offset, owner, checkedFrom } = journal;
    return { afterSeq: after, checkedFrom, ...(after >= run.seq ? { offset, owner } : { offset: 0 }) };
  },
  watch: (id) => watchFile(layout.journalFile(id), OWNER_POLL_INTERVAL_MS),
  async isDriven(id) {
    const owner = await ownerOf(layout.runFolder(id));
    return owner !== undefined && owner.state !== 'gone';
  },
  turnFolder: async (id, turn) => layout.turnFolder(id, turn),
  openTurnFolder: async (id, turn) => layout.turnFolder(id, turn),
  liveTurnFolder: async (id, turn) => layout.turnFolder(id, turn),
  async findTurnFolder(id, { agent, number }) {
    const names = await readdir(layout.turnsFolder(id)).catch((): string[] => []);
    const name = names.find((each) => layout.parseTurnFolder(each, agent)?.number === number);
    return name === undefined ? null : join(layout.turnsFolder(id), name);
  },
  findWorkflow: async ({ workflow }) => ({ path: workflow.path }),
  readQuestionEnd: async (id, ask) =>
    (await import('../store/question-end.ts')).readQuestionEnd(layout.answerFile(id, ask)),
  answer: (id, answer, uploads) => writeAnswer(layout.answerFile(id, answer.ask), answer, uploads),
  async addWords(id, words) {
    const file = await writeWordRequest(layout.wordsFolder(id), words);
    return { isThere: async () => existsSync(file), remove: async () => removeWordRequest(file) };
  },
});
