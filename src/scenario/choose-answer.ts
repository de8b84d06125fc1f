import type { ClaudeTurn } from '../core/due.ts';
import type { AnswerCase, CannedAnswer, Scenario, StateAnswers } from './scenario.ts';

/** What is to be played, or why there is nothing and what to add, as a sentence without its end. */
export type AnswerChoice =
  | { readonly kind: 'answer'; readonly answer: CannedAnswer }
  | { readonly kind: 'none'; readonly message: string };

type AnswerRequest = Pick<ClaudeTurn, 'agent' | 'state' | 'visit' | 'attempt' | 'variables'>;

/** The answer that is meant for a turn. The same turn always gets the same one. */
export function chooseAnswer(
  { file, answers }: Scenario,
  { agent, state, visit, attempt, variables }: AnswerRequest,
): AnswerChoice {
  const stateAnswers = answers.get(state);
  if (stateAnswers === undefined) {
    return noAnswer(`${file} has no answer for ${state}. Add \`${state}:\` with one under \`answers\``);
  }
  const position = formatAnswersPosition(stateAnswers);
  const matchingCase = stateAnswers.cases.find(({ when }) => matchesVariables(when, variables));
  if (matchingCase === undefined) {
    return noAnswer(
      `${position}: no answer for ${state} is meant for ${agent} (${describeVariables(stateAnswers.cases, variables)}). Add one`,
    );
  }
  const { everyVisit, visits } = matchingCase;
  const turns = visits[everyVisit ? 0 : visit - 1];
  const answer = turns?.[attempt - 1] ?? turns?.at(-1);
  if (answer !== undefined) return { kind: 'answer', answer };
  const count = visits.length === 1 ? 'one answer' : `${visits.length} answers`;
  return noAnswer(`${position}: ${state} has ${count}, and this is visit ${visit} of ${agent}. Add one to the list`);
}

/** Where the answers for a state stand, as an editor takes it. */
export const formatAnswersPosition = ({ file, line, column }: StateAnswers): string => `${file}:${line}:${column}`;

const noAnswer = (message: string): AnswerChoice => ({ kind: 'none', message });

function matchesVariables(when: AnswerCase['when'], variables: AnswerRequest['variables']): boolean {
  return Object.entries(when).every(([name, value]) => Object.hasOwn(variables, name) && variables[name] === value);
}

/** The values that decided, for a message. */
function describeVariables(cases: readonly AnswerCase[], variables: AnswerRequest['variables']): string {
  const names = new Set(cases.flatMap(({ when }) => Object.keys(when)));
  const formatVariable = (name: string) =>
    Object.hasOwn(variables, name) ? `${name}: ${variables[name]}` : `no ${name}`;
  return [...names].map(formatVariable).join(', ');
}
