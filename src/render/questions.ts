import type { Agent } from '../core/run/agent.ts';
import { type WaitingAsk, waitingAsksOf } from '../core/run/permission.ts';
import type { Run } from '../core/run/run.ts';
import { workFoldersOf } from '../core/run/work-folders.ts';
import type { Question } from '../language/ask.ts';
import type { Choices } from '../language/choices.ts';
import type { PermissionRequest } from '../language/permission.ts';
import { formatClock, quoteShellArgument } from './format.ts';
import { sanitizeLine } from './sanitize.ts';

/** The questions of a run that wait for answers, the oldest first. */
export const listWaitingAsks = ({ agents }: Pick<Run, 'agents'>): readonly WaitingAsk[] =>
  agents.flatMap(waitingAsksOf).sort((a, b) => a.askedAt - b.askedAt);

/** The folder that the files of a question are in; null if the run has none. */
export const findDisplayFolder = (run: Run, agent: Agent): string | null => workFoldersOf(run, agent).taskFolder;

/** The command that answers a question; with `resumes`, it continues with the run afterwards. */
export function formatAnswerCommand(
  run: string,
  ask: string,
  { uploads, choices, permission }: Pick<Question, 'uploads' | 'choices' | 'permission'>,
  resumes = false,
): string {
  const files = (uploads?.slots ?? []).map(({ name }) => ` --upload ${quoteShellArgument(`${name}=PATH`)}`).join('');
  const text = choices === null || choices.other ? '"TEXT"' : '"CHOICE"';
  const answer = permission === null || permission.form === 'question' ? text : describeDecisions(permission);
  return `raymond answer ${run} ${ask} ${answer}${files}${resumes ? ' --resume' : ''}`;
}

/** The words that decide about a tool. */
export const describeDecisions = ({ form, rules, folders }: PermissionRequest): string =>
  form === 'plan' || rules.length + folders.length === 0 ? 'allow|deny' : 'allow|always|deny';

/** A line for each choice of a question, with the number that chooses it. */
export const listChoiceLines = (choices: Choices | null): readonly string[] =>
  choices === null
    ? []
    : [
        ...choices.labels.map((label, at) => `${at + 1} ${sanitizeLine(label)}`),
        ...(choices.many ? ['(several may be chosen)'] : []),
        ...(choices.other ? ['(or any text)'] : []),
      ];

const MAX_COMMANDS = 3;

/** The authors of answers that the run has not recorded yet, by question. */
export type WaitingAnswers = ReadonlyMap<string, string>;

/** The commands that answer the questions of a run which still wait. */
export function listAnswerCommands(
  run: Run,
  isLive: boolean,
  answers: WaitingAnswers,
  now: number,
): readonly { readonly purpose: string; readonly command: string }[] {
  const asking = listWaitingAsks(run).filter((each) => describeQuestionEnd(each, answers, now) === null);
  if (asking.length > MAX_COMMANDS) return [{ purpose: 'To see the questions', command: 'raymond asks' }];
  return asking.map(({ ask, question }) => ({
    purpose: 'To answer',
    command: formatAnswerCommand(run.id, ask, question, !isLive),
  }));
}

/** Says why a question needs no answer any more, although its run has not continued yet; null if it needs one. */
export function describeQuestionEnd(
  { ask, untilMs, question }: WaitingAsk,
  answers: WaitingAnswers,
  now: number,
): string | null {
  const by = answers.get(ask);
  if (by !== undefined) return `${by} has answered`;
  if (untilMs === null || untilMs > now) return null;
  return `its time was over at ${formatClock(untilMs, now)}, so ${describeTimeout(question)}`;
}

/** How long a question waits: `until 15:50, then LATE.md`; null forever. One that is over says why. */
export function describeDeadline(waiting: WaitingAsk, answers: WaitingAnswers, now: number): string | null {
  const { untilMs, question } = waiting;
  const end = describeQuestionEnd(waiting, answers, now);
  if (end !== null || untilMs === null) return end;
  return `until ${formatClock(untilMs, now)}, then ${question.timeoutNext ?? 'it is denied'}`;
}

/** The consequence of no answer in time. */
export const describeTimeout = ({ timeoutNext }: Question): string =>
  timeoutNext === null ? 'it is denied' : `it continues in ${timeoutNext}`;
