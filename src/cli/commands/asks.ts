import { join } from 'node:path';
import { listQuestions, type WaitingQuestion } from '../../app/questions.ts';
import { isLive } from '../../core/run/observed-status.ts';
import { createAsksDocument } from '../../documents/question-document.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { formatAge } from '../../render/format.ts';
import {
  describeDeadline,
  describeQuestionEnd,
  findDisplayFolder,
  formatAnswerCommand,
  listChoiceLines,
} from '../../render/questions.ts';
import { sanitizeLine, sanitizeLines } from '../../render/sanitize.ts';
import { createRenderContext, type RenderContext } from '../../render/terminal/render-context.ts';
import { wrapText } from '../../render/text-width.ts';
import type { CommandHandler } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';

/** `raymond asks`: lists the questions that wait for a person, and how to answer each. */
export const handleAsks: CommandHandler = async (_, options, terminal) => {
  const { json } = options;
  const address = findDatabaseAddress(options, terminal);
  const { questions, now } = await withStorage(address, terminal, async ({ storage }) => ({
    questions: await listQuestions(storage),
    now: storage.clock.now(),
  }));
  if (json) terminal.out(`${formatJson(createAsksDocument(questions))}\n`);
  else if (questions.length === 0) terminal.out('No run here asks anything.\n');
  else {
    const context = createRenderContext(terminal, now);
    terminal.out(`${questions.map((each) => renderQuestion(each, context).join('\n')).join('\n\n')}\n`);
  }
  return EXIT.completed;
};

function renderQuestion(
  { run, waiting, observedStatus, answeredBy }: WaitingQuestion,
  { columns, colorize, now }: RenderContext,
): readonly string[] {
  const { agent, ask, question, askedAt } = waiting;
  const answers = new Map(answeredBy === null ? [] : [[ask, answeredBy]]);
  const timeout = describeDeadline(waiting, answers, now);
  const isOver = describeQuestionEnd(waiting, answers, now) !== null;
  const since = `${formatAge(askedAt, now)} ago${timeout === null ? '' : `, ${timeout}`}`;
  const folder = findDisplayFolder(run, agent) ?? '';
  const files = question.displayFiles.map(({ path, label }) => `${label ?? 'see'}: ${join(folder, path)}`);
  const next = !isOver
    ? [formatAnswerCommand(run.id, ask, question, !isLive(observedStatus))]
    : isLive(observedStatus)
      ? []
      : [`raymond resume ${run.id}`];
  return [
    ...wrapText(`${colorize('bold', ask)} of ${sanitizeLine(run.id)}, ${since}`, columns),
    ...sanitizeLines(question.text).flatMap((line) => wrapText(line, columns - 2).map((part) => `  ${part}`)),
    ...listChoiceLines(question.choices).map((line) => `  ${line}`),
    ...files.map((line) => colorize('dim', `  ${sanitizeLine(line)}`)),
    ...next.map((line) => colorize(isOver ? 'yellow' : 'cyan', `  ${line}`)),
  ];
}
