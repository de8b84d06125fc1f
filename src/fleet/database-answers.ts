import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ASKS_FOLDER, type AskAnswer } from '../core/ask.ts';
import type { AskTurn } from '../core/ask-turn.ts';
import { formatAnswer, formatTimeout } from '../store/answer-file.ts';
import { makePrivateFolder } from '../store/files.ts';
import { parseQuestionEnd, type QuestionEnd } from '../store/question-end.ts';
import type { AnswerSource } from '../turns/ask-board.ts';
import type { Clock } from '../turns/clock.ts';
import type { Database } from './database.ts';
import type { Requests } from './requests.ts';

/** A file that comes with an answer. */
export interface UploadedFile {
  readonly name: string;
  readonly content: Uint8Array;
}

/** Puts an answer into the database. False if the question has ended before. */
export const insertAnswer = (
  database: Database,
  run: string,
  answer: AskAnswer,
  uploads: readonly UploadedFile[] = [],
): Promise<boolean> => insertEnd(database, run, answer.ask, formatAnswer(answer, null), uploads);

async function insertEnd(
  database: Database,
  run: string,
  ask: string,
  content: string,
  uploads: readonly UploadedFile[] = [],
): Promise<boolean> {
  return database.transaction(async (client) => {
    const { rowCount } = await client.query(
      'insert into raymond.answers (run, ask, content) values ($1, $2, $3) on conflict do nothing',
      [run, ask, content],
    );
    if (rowCount === 0) return false;
    for (const { name, content: bytes } of uploads)
      await client.query('insert into raymond.uploads values ($1, $2, $3, $4)', [run, ask, name, bytes]);
    return true;
  });
}

/** Reads how a question ended; undefined if it has not. */
export async function selectQuestionEnd(
  database: Database,
  run: string,
  ask: string,
): Promise<QuestionEnd | undefined> {
  const [row] = await database.query<{ content: string }>(
    'select content from raymond.answers where run = $1 and ask = $2',
    [run, ask],
  );
  return row && parseQuestionEnd(row.content, `the answer to ${ask} of ${run} in ${database.name}`);
}

/** The answers to the questions of one run, as people put them into the database. */
export function createDatabaseAnswers(
  database: Database,
  requests: Pick<Requests, 'hasAnswer'>,
  run: string,
  { clock, warn }: { readonly clock: Clock; readonly warn: (turn: AskTurn, message: string) => void },
): AnswerSource {
  const warned = new Set<string>();
  return {
    look: () => (turn) => requests.hasAnswer(run, turn.ask),
    async find(turn) {
      const end = await database.whenReachable(() => selectQuestionEnd(database, run, turn.ask));
      if (end?.kind === 'unreadable') {
        if (!warned.has(turn.ask)) warn(turn, `${end.message}: the question ${turn.ask} still waits`);
        warned.add(turn.ask);
        return undefined;
      }
      if (end?.kind !== 'answered') return end === undefined ? undefined : null;
      if (end.answer.files.length > 0 && turn.taskFolder !== null)
        await placeUploads(database, run, turn.ask, join(turn.taskFolder, ASKS_FOLDER, turn.ask));
      return end.answer;
    },
    async expire(turn) {
      await database.whenReachable(() => insertEnd(database, run, turn.ask, formatTimeout(turn.ask, clock.now())));
    },
  };
}

/** Writes the files of an answer where the agent finds them. After a crash it is done again. */
export async function placeUploads(database: Database, run: string, ask: string, folder: string): Promise<void> {
  const files = await database.query<{ name: string; content: Buffer }>(
    'select name, content from raymond.uploads where run = $1 and ask = $2',
    [run, ask],
  );
  if (files.length > 0) await makePrivateFolder(folder, false);
  for (const { name, content } of files) await writeFile(join(folder, basename(name)), content, { mode: 0o600 });
}
