import type { PromptTurn } from '../core/turns/due.ts';
import type { AnswerCase, CannedAnswer, Scenario, StateAnswers } from './scenario.ts';

/** The answer for a turn, or a message that says why there is none and what to add, without the final period. */
export type AnswerChoice =
  | { readonly kind: 'answer'; readonly answer: CannedAnswer }
  | { readonly kind: 'none'; readonly message: string };

type AnswerRequest = Pick<PromptTurn, 'agent' | 'state' | 'visit' | 'attempt' | 'variables'>;

/** Chooses the answer for a turn. The same turn always gets the same answer. */
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
      `${position}: no answer for ${state} matches ${agent} (${describeVariables(stateAnswers.cases, variables)}). Add one`,
    );
  }
  const { everyVisit, visits } = matchingCase;
  const turns = visits[everyVisit ? 0 : visit - 1];
  const answer = turns?.[attempt - 1] ?? turns?.at(-1);
  if (answer !== undefined) return { kind: 'answer', answer };
  const count = visits.length === 1 ? 'one answer' : `${visits.length} answers`;
  return noAnswer(`${position}: ${state} has ${count}, and this is visit ${visit} of ${agent}. Add one to the list`);
}

/** Formats the position of a state's answers as `FILE:LINE:COLUMN`. */
export const formatAnswersPosition = ({ file, line, column }: StateAnswers): string => `${file}:${line}:${column}`;

const noAnswer = (message: string): AnswerChoice => ({ kind: 'none', message });

function matchesVariables(when: AnswerCase['when'], variables: AnswerRequest['variables']): boolean {
  return Object.entries(when).every(([name, value]) => Object.hasOwn(variables, name) && variables[name] === value);
}

/** Describes the variables that the cases look at. */
function describeVariables(cases: readonly AnswerCase[], variables: AnswerRequest['variables']): string {
  const names = new Set(cases.flatMap(({ when }) => Object.keys(when)));
  const formatVariable = (name: string) =>
    Object.hasOwn(variables, name) ? `${name}: ${variables[name]}` : `no ${name}`;
  return [...names].map(formatVariable).join(', ');
}
