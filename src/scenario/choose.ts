import type { ClaudeTurn } from '../core/due.ts';
import type { Answer, Case, Part, Scenario } from './scenario.ts';

/** What is to be played, or why there is nothing and what to add, as a sentence without its end. */
export type Choice =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'none'; readonly message: string };

type Asked = Pick<ClaudeTurn, 'agent' | 'state' | 'visit' | 'attempt' | 'variables'>;

/** The answer that is meant for a turn. The same turn always gets the same one. */
export function chooseAnswer({ file, parts }: Scenario, { agent, state, visit, attempt, variables }: Asked): Choice {
  const part = parts.get(state);
  if (part === undefined) {
    return none(`${file} has no answer for ${state}. Add \`${state}:\` with one under \`answers\``);
  }
  const place = placeOf(part);
  const meant = part.cases.find(({ when }) => isMeant(when, variables));
  if (meant === undefined) {
    return none(`${place}: no answer for ${state} is meant for ${agent} (${known(part.cases, variables)}). Add one`);
  }
  const { everyVisit, visits } = meant;
  const turns = visits[everyVisit ? 0 : visit - 1];
  const answer = turns?.[attempt - 1] ?? turns?.at(-1);
  if (answer !== undefined) return { kind: 'answer', answer };
  const count = visits.length === 1 ? 'one answer' : `${visits.length} answers`;
  return none(`${place}: ${state} has ${count}, and this is visit ${visit} of ${agent}. Add one to the list`);
}

/** Where the answers for a state stand, as an editor takes it. */
export const placeOf = ({ file, line, column }: Part): string => `${file}:${line}:${column}`;

const none = (message: string): Choice => ({ kind: 'none', message });

function isMeant(when: Case['when'], variables: Asked['variables']): boolean {
  return Object.entries(when).every(([name, value]) => Object.hasOwn(variables, name) && variables[name] === value);
}

/** The values that decided, for a message. */
function known(cases: readonly Case[], variables: Asked['variables']): string {
  const names = new Set(cases.flatMap(({ when }) => Object.keys(when)));
  const value = (name: string) => (Object.hasOwn(variables, name) ? `${name}: ${variables[name]}` : `no ${name}`);
  return [...names].map(value).join(', ');
}
