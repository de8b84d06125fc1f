import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { microsToUsd } from '../core/run/ledger.ts';
import { exitCodeOf } from '../documents/run-document.ts';
import { didYouMean } from '../language/text/nearest.ts';
import { matchPattern } from '../patterns/match-pattern.ts';
import type { Expectation, TextExpectation } from '../scenario/test-spec.ts';
import type { DifferenceDetail } from './difference.ts';
import type { RunObservations } from './run-observations.ts';

type Mismatches = readonly (readonly [what: string, detail: DifferenceDetail])[];

/** Compares one kind of expectation with a test run and returns what differs. */
export type ExpectationMatcher<E> = (expectation: E, observed: RunObservations) => Mismatches | Promise<Mismatches>;

type ExpectationMatchers = {
  readonly [Kind in Expectation['kind']]: ExpectationMatcher<Extract<Expectation, { kind: Kind }>>;
};

/** The matcher of each kind of expectation. */
export const EXPECTATION_MATCHERS: ExpectationMatchers = {
  status: ({ status }, { run, reasons }) => [
    ...compareValues('the status of the run', status, run.status),
    ...(run.status === status ? [] : reasons.map(reasonMismatch)),
  ],
  exit: ({ code }, { run, reasons }) => [
    ...compareValues('the exit code', code, exitCodeOf(run)),
    ...(exitCodeOf(run) === code ? [] : reasons.map(reasonMismatch)),
  ],
  path: ({ agent, states }, observed) => {
    const path = observed.pathOf(agent);
    if (path === undefined) return unknownAgent(agent, observed);
    const isSame = path.length === states.length && path.every((state, at) => state === states[at]);
    return isSame ? [] : [[`the path of ${agent}`, { kind: 'lists', expected: states, actual: path }]];
  },
  result: async ({ agent, text }, observed) => {
    const result = observed.resultOf(agent);
    if (result === undefined) return unknownAgent(agent, observed);
    if (result === null)
      return [[`the result of ${agent}`, problemDetail(`${agent} has come to no result${expectedHint(text)}`)]];
    return (await findTextMismatches(result, text, false)).map((detail) => [`the result of ${agent}`, detail]);
  },
  prints: ({ agent, texts }, observed) => {
    if (observed.pathOf(agent) === undefined) return unknownAgent(agent, observed);
    const expected = texts.map((text) => text.trim());
    const actual = observed.printsOf(agent);
    const isSame = actual.length === expected.length && actual.every((text, at) => text === expected[at]);
    return isSame ? [] : [[`what ${agent} prints`, { kind: 'lists', expected, actual }]];
  },
  prompts: async ({ agent, state, every, visits }, observed) => {
    if (agent !== null && observed.pathOf(agent) === undefined) return unknownAgent(agent, observed);
    const prompts = observed.promptsOf(state, agent);
    const [first] = visits;
    const byAgent = agent === null ? '' : ` by ${agent}`;
    if (every && prompts.length === 0)
      return [[`the prompt of ${state}`, problemDetail(`${state} is never entered${byAgent}`)]];
    if (!every && prompts.length !== visits.length)
      return compareValues(`the number of visits to ${state}${byAgent}`, visits.length, prompts.length);
    const found = prompts.map(async (text, at) => {
      const expectation = every ? first : visits[at];
      const mismatches = expectation === undefined ? [] : await findTextMismatches(text, expectation, false);
      return mismatches.map((detail) => [`the prompt of ${state}, visit ${at + 1}${byAgent},`, detail] as const);
    });
    return (await Promise.all(found)).flat();
  },
  file: async ({ name, text }, { folder }) => {
    const [what, path] = [`the file ${name}`, join(folder, name)];
    const exists = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
    if (text === null) return exists ? [[what, problemDetail(`${what} should not be there`)]] : [];
    if (!exists) return [[what, problemDetail(`${what} is not there`)]];
    const mismatches = await findTextMismatches(readFileSync(path, 'utf8'), text, true);
    return mismatches.map((detail) => [what, detail]);
  },
  cost: ({ state, usd }, observed) => {
    const actual = microsToUsd(observed.microsOf(state));
    if (Math.abs(actual - usd) < USD_TOLERANCE) return [];
    return [[`the cost${ofState(state)}`, { kind: 'values', expected: usd, actual, unit: '$' }]];
  },
  turns: ({ state, count }, observed) =>
    compareValues(`the number of turns${ofState(state)}`, count, observed.countOf('turn_ended', state)),
  reminders: ({ state, count }, observed) =>
    compareValues(`the number of reminders${ofState(state)}`, count, observed.countOf('reminded', state)),
  warnings: ({ state, count }, observed) =>
    compareValues(`the number of warnings${ofState(state)}`, count, observed.countOf('warning', state)),
};

/** Half a micro-dollar, the unit that costs are counted in. */
const USD_TOLERANCE = 0.5e-6;

const ofState = (state: string | null): string => (state === null ? '' : ` of ${state}`);

const expectedHint = ({ equals }: TextExpectation): string =>
  equals === null ? '' : `; \`${abbreviate(equals)}\` is expected`;

const MAX_QUOTE_LENGTH = 60;

function abbreviate(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length <= MAX_QUOTE_LENGTH ? line : `${line.slice(0, MAX_QUOTE_LENGTH)}…`;
}

const compareValues = <T extends string | number>(what: string, expected: T, actual: T): Mismatches =>
  expected === actual ? [] : [[what, { kind: 'values', expected, actual }]];

function unknownAgent(agent: string, { run }: RunObservations): Mismatches {
  const ids = run.agents.map(({ id }) => id);
  return [[agent, problemDetail(`there is no agent ${agent}${suggestAgents(agent, ids)}`)]];
}

/** The agent that may be meant, else a list of all agents, unless it is long. */
const suggestAgents = (agent: string, ids: readonly string[]): string =>
  didYouMean(agent, ids) ||
  (ids.length > MAX_SUGGESTED_AGENTS ? '' : `: there ${ids.length === 1 ? 'is only' : 'are'} ${ids.join(', ')}`);

const MAX_SUGGESTED_AGENTS = 10;

/** The subject of a difference that only gives the reason for the one before it. */
export const REASON_LABEL = 'the reason';

/** The detail of a difference that is no comparison. */
export const problemDetail = (message: string): DifferenceDetail => ({ kind: 'problem', message });

const reasonMismatch = (message: string): Mismatches[number] => [REASON_LABEL, problemDetail(message)];

/** Compares a text with all matchers of an expectation. Unless `exact`, `equals` ignores white space around the text. */
async function findTextMismatches(
  actual: string,
  expectation: TextExpectation,
  exact: boolean,
): Promise<readonly DifferenceDetail[]> {
  const { equals } = expectation;
  const [expected, text] = exact ? [equals, actual] : [equals?.trim() ?? null, actual.trim()];
  const mismatchedPart = (matcher: 'contains' | 'lacks' | 'matches', part: string): DifferenceDetail => {
    return { kind: 'parts', matcher, part, actual };
  };
  const patterns = expectation.matches.map(async (pattern): Promise<readonly DifferenceDetail[]> => {
    const found = await matchPattern(new RegExp(pattern, 'm'), actual);
    if (found === 'timeout')
      return [problemDetail(`the pattern \`${abbreviate(pattern)}\` took too long over the text`)];
    return found ? [] : [mismatchedPart('matches', pattern)];
  });
  return [
    ...(expected === null || expected === text ? [] : [{ kind: 'texts', expected, actual: text } as const]),
    ...expectation.contains.filter((part) => !actual.includes(part)).map((part) => mismatchedPart('contains', part)),
    ...expectation.lacks.filter((part) => actual.includes(part)).map((part) => mismatchedPart('lacks', part)),
    ...(await Promise.all(patterns)).flat(),
  ];
}
