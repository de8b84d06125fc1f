import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { usdOf } from '../core/ledger.ts';
import { didYouMean } from '../core/nearest.ts';
import { exitCodeOf } from '../observers/document.ts';
import type { TextWish, Wish } from '../scenario/rehearsal.ts';
import type { Detail } from './difference.ts';
import type { Records } from './records.ts';
import { faultsOfText } from './texts.ts';

/** What was found to be different. */
type Found = readonly (readonly [what: string, detail: Detail])[];
export type Look<W> = (wish: W, records: Records) => Found;
type Looks = { readonly [Kind in Wish['kind']]: Look<Extract<Wish, { kind: Kind }>> };

/** How each kind of wish is looked after. */
export const LOOKS: Looks = {
  status: ({ status }, { run, reasons }) => [
    ...values('the status of the run', status, run.status),
    ...(run.status === status ? [] : reasons.map(asIs)),
  ],
  exit: ({ code }, { run, reasons }) => [
    ...values('the exit code', code, exitCodeOf(run)),
    ...(exitCodeOf(run) === code ? [] : reasons.map(asIs)),
  ],
  path: ({ agent, states }, records) => {
    const path = records.pathOf(agent);
    if (path === undefined) return nobody(agent, records);
    const isSame = path.length === states.length && path.every((state, at) => state === states[at]);
    return isSame ? [] : [[`the path of ${agent}`, { kind: 'lists', expected: states, actual: path }]];
  },
  result: ({ agent, text }, records) => {
    const result = records.resultOf(agent);
    if (result === undefined) return nobody(agent, records);
    if (result === null) return [[`the result of ${agent}`, trouble(`${agent} has come to no result${instead(text)}`)]];
    return faultsOfText(result, text, false).map((detail) => [`the result of ${agent}`, detail]);
  },
  prompts: ({ agent, state, every, visits }, records) => {
    if (agent !== null && records.pathOf(agent) === undefined) return nobody(agent, records);
    const prompts = records.promptsOf(state, agent);
    const [first] = visits;
    const by = agent === null ? '' : ` by ${agent}`;
    if (every && prompts.length === 0) return [[`the prompt of ${state}`, trouble(`${state} is never entered${by}`)]];
    if (!every && prompts.length !== visits.length)
      return values(`the number of visits to ${state}${by}`, visits.length, prompts.length);
    return prompts.flatMap((text, at) => {
      const wish = every ? first : visits[at];
      const faults = wish === undefined ? [] : faultsOfText(text, wish, false);
      return faults.map((detail) => [`the prompt of ${state}, visit ${at + 1}${by},`, detail] as const);
    });
  },
  file: ({ name, text }, { folder }) => {
    const [what, path] = [`the file ${name}`, join(folder, name)];
    const isThere = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
    if (text === null) return isThere ? [[what, trouble(`${what} should not be there`)]] : [];
    if (!isThere) return [[what, trouble(`${what} is not there`)]];
    return faultsOfText(readFileSync(path, 'utf8'), text, true).map((detail) => [what, detail]);
  },
  cost: ({ state, usd }, records) => {
    const actual = usdOf(records.microsOf(state));
    if (Math.abs(actual - usd) < SAME_USD) return [];
    return [[`the cost${inState(state)}`, { kind: 'values', expected: usd, actual, unit: '$' }]];
  },
  turns: ({ state, count }, records) =>
    values(`the number of turns${inState(state)}`, count, records.countOf('turn_ended', state)),
  reminders: ({ state, count }, records) =>
    values(`the number of reminders${inState(state)}`, count, records.countOf('reminded', state)),
  warnings: ({ state, count }, records) =>
    values(`the number of warnings${inState(state)}`, count, records.countOf('warning', state)),
};

/** Half of what money is counted in. */
const SAME_USD = 0.5e-6;

const inState = (state: string | null): string => (state === null ? '' : ` of ${state}`);

const instead = ({ equals }: TextWish): string => (equals === null ? '' : `; \`${beginning(equals)}\` is expected`);

const LONGEST_QUOTE = 60;

function beginning(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length <= LONGEST_QUOTE ? line : `${line.slice(0, LONGEST_QUOTE)}…`;
}

const values = <T extends string | number>(what: string, expected: T, actual: T): Found =>
  expected === actual ? [] : [[what, { kind: 'values', expected, actual }]];

const nobody = (agent: string, { run }: Records): Found => [
  [
    agent,
    trouble(
      `there is no agent ${agent}${whoElse(
        agent,
        run.agents.map(({ id }) => id),
      )}`,
    ),
  ],
];

/** Whom the author may have meant; of very many, not all are named. */
const whoElse = (agent: string, ids: readonly string[]): string =>
  didYouMean(agent, ids) ||
  (ids.length > MOST_NAMED ? '' : `: there ${ids.length === 1 ? 'is only' : 'are'} ${ids.join(', ')}`);

const MOST_NAMED = 10;

/** What a difference is about that only says why there is the one before it. */
export const REASON = 'the reason';

export const trouble = (message: string): Detail => ({ kind: 'trouble', message });

const asIs = (message: string): Found[number] => [REASON, trouble(message)];
