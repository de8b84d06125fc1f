import type { Agent, Phase } from '../core/run/agent.ts';
import type { Run } from '../core/run/run.ts';
import { workFoldersOf } from '../core/run/work-folders.ts';
import type { Question } from '../language/ask.ts';
import type { Choices } from '../language/choices.ts';
import { formatClock, quoteShellArgument } from './format.ts';
import { sanitizeLine } from './sanitize.ts';

/** An agent that waits for the answer of a person. */
export type AskingAgent = Agent & { readonly phase: Extract<Phase, { kind: 'asking' }> };

const isAsking = (agent: Agent): agent is AskingAgent => agent.phase.kind === 'asking';

/** The agents of a run that wait for answers, in the order of their questions. */
export const listAskingAgents = ({ agents }: Pick<Run, 'agents'>): readonly AskingAgent[] =>
  agents.filter(isAsking).sort((a, b) => a.phase.askedAt - b.phase.askedAt);

/** The folder that the files of a question are in; null if the run has none. */
export const findDisplayFolder = (run: Run, agent: Agent): string | null => workFoldersOf(run, agent).taskFolder;

/** The command that answers a question; with `resumes`, it continues with the run afterwards. */
export function formatAnswerCommand(
  run: string,
  ask: string,
  { uploads, choices }: Pick<Question, 'uploads' | 'choices'>,
  resumes = false,
): string {
  const files = (uploads?.slots ?? []).map(({ name }) => ` --upload ${quoteShellArgument(`${name}=PATH`)}`).join('');
  return `raymond answer ${run} ${ask} "${choices === null || choices.other ? 'TEXT' : 'CHOICE'}"${files}${resumes ? ' --resume' : ''}`;
}

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
  const asking = listAskingAgents(run).filter((agent) => describeQuestionEnd(agent, answers, now) === null);
  if (asking.length > MAX_COMMANDS) return [{ purpose: 'To see the questions', command: 'raymond asks' }];
  return asking.map(({ phase: { ask, question } }) => ({
    purpose: 'To answer',
    command: formatAnswerCommand(run.id, ask, question, !isLive),
  }));
}

/** Says why a question needs no answer any more, although its run has not continued yet; null if it needs one. */
export function describeQuestionEnd({ phase }: AskingAgent, answers: WaitingAnswers, now: number): string | null {
  const { ask, untilMs, question } = phase;
  const by = answers.get(ask);
  if (by !== undefined) return `${by} has answered`;
  if (untilMs === null || untilMs > now) return null;
  return `its time was over at ${formatClock(untilMs, now)}, so it continues in ${question.timeoutNext}`;
}

/** How long a question waits: `until 15:50, then LATE.md`; null forever. One that is over says why. */
export function describeDeadline(agent: AskingAgent, answers: WaitingAnswers, now: number): string | null {
  const { untilMs, question } = agent.phase;
  const end = describeQuestionEnd(agent, answers, now);
  if (end !== null || untilMs === null) return end;
  return `until ${formatClock(untilMs, now)}, then ${question.timeoutNext}`;
}
