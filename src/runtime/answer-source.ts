import { basename, join } from 'node:path';
import { ASKS_FOLDER } from '../core/ask.ts';
import type { AskTurn } from '../core/ask-turn.ts';
import { listEndFiles, placeFiles, writeTimeout } from '../store/answer-file.ts';
import type { StoreLayout } from '../store/layout.ts';
import type { AnswerSource } from '../turns/ask-board.ts';
import type { Clock } from '../turns/clock.ts';

/** The answers to the questions of one run, as people put them on disk. `warn` is told of each that cannot be read, once. */
export function createAnswerSource(
  layout: StoreLayout,
  run: string,
  { clock, durable, warn }: { clock: Clock; durable: boolean; warn: (turn: AskTurn, message: string) => void },
): AnswerSource {
  const warned = new Set<string>();
  let loaded: Promise<typeof import('../store/question-end.ts')> | undefined;
  // From the first look on, long before an answer comes: by then another Raymond may be installed in place of this one.
  const load = (): Promise<typeof import('../store/question-end.ts')> => {
    loaded ??= import('../store/question-end.ts');
    return loaded;
  };
  return {
    look() {
      load().catch(() => {});
      const names = listEndFiles(layout.answersFolder(run));
      return ({ ask }) => names.has(basename(layout.answerFile(run, ask)));
    },
    async find(turn) {
      const { readQuestionEnd } = await load();
      const end = readQuestionEnd(layout.answerFile(run, turn.ask));
      if (end?.kind === 'unreadable') {
        if (!warned.has(turn.ask)) warn(turn, `${end.message}: the question ${turn.ask} still waits`);
        warned.add(turn.ask);
        return undefined;
      }
      if (end?.kind !== 'answered') return end === undefined ? undefined : null;
      const { answer, staged } = end;
      if (staged !== null && turn.taskFolder !== null)
        await placeFiles(staged, answer.files, join(turn.taskFolder, ASKS_FOLDER, turn.ask));
      return answer;
    },
    async expire(turn) {
      await writeTimeout(layout.answerFile(run, turn.ask), turn.ask, clock.now(), durable);
    },
  };
}
