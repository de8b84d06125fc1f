import type { Event } from '../core/run/event.ts';
import { EXIT } from '../errors.ts';
import { isPrompt } from '../language/state-names.ts';
import { comparePositions, type TextPosition } from '../language/text/text.ts';
import type { Expectation, PositionedExpectation, TestSpec } from '../scenario/test-spec.ts';
import type { Difference, TestFindings } from './difference.ts';
import { EXPECTATION_MATCHERS, type ExpectationMatcher, problemDetail, REASON_LABEL } from './matchers.ts';
import { RunObservations } from './run-observations.ts';
import type { TestRun } from './run-scenario.ts';
import { checkStaleness } from './staleness.ts';
import type { TestCase } from './suite.ts';

/**
 * Compares a test run with its expectations: first how it ended, then its paths, because they explain most other
 * differences. A run that failed unexpectedly is only asked for its end, paths and results: the rest could not match
 * anyway.
 */
async function compareWithExpectations(spec: TestSpec, testRun: TestRun): Promise<readonly Difference[]> {
  const { expectations } = spec;
  const observed = new RunObservations(testRun);
  const scenarioErrors = findScenarioErrors(spec, testRun);
  const isUnexpectedFailure = scenarioErrors.length === 0 && hasUnexpectedFailure(expectations, observed);
  const kinds = scenarioErrors.length > 0 ? ['path'] : ['status', 'exit', 'path', 'result'];
  const isAll = scenarioErrors.length === 0 && !isUnexpectedFailure;
  const compared = expectations.filter(({ kind }) => isAll || kinds.includes(kind));
  const ranked = compared.toSorted((a, b) => rankExpectation(a) - rankExpectation(b) || comparePositions(a, b));
  const differences = ranked.map(async (expectation): Promise<readonly Difference[]> => {
    const matcher = EXPECTATION_MATCHERS[expectation.kind] as ExpectationMatcher<Expectation>;
    const { line, column } = expectation;
    return (await matcher(expectation, observed)).map(([what, detail]) => ({ line, column, what, detail }));
  });
  return dedupeProblems([
    ...scenarioErrors,
    ...(isUnexpectedFailure ? describeFailure(spec, observed) : []),
    ...(await Promise.all(differences)).flat(),
  ]);
}

const rankExpectation = ({ kind }: PositionedExpectation): number =>
  kind === 'status' || kind === 'exit' ? 0 : kind === 'path' ? 1 : 2;

/** The same problem may keep several expectations from being met; it is reported once. */
function dedupeProblems(differences: readonly Difference[]): readonly Difference[] {
  const reported = new Set<string>();
  return differences.filter(({ detail }) => {
    if (detail.kind !== 'problem') return true;
    const isNew = !reported.has(detail.message);
    reported.add(detail.message);
    return isNew;
  });
}

/** Why the scenario could not be run to its end. What it lacks counts only if an agent had to stop because of it. */
function findScenarioErrors(
  { at, scenario }: TestSpec,
  { scenarioErrors, refusedAnswers, isTimedOut, run, events }: TestRun,
): readonly Difference[] {
  const isBlocked = scenarioErrors.length > 0 && run.agents.some(({ phase }) => phase.kind === 'paused');
  const errors = [...refusedAnswers, ...(isBlocked ? scenarioErrors : [])];
  if (errors.length > 0) return errors.map((message) => toScenarioError(message, scenario.file, at));
  if (!isTimedOut) return [];
  const message = 'it took too long and was ended; --timeout gives it more time';
  const lines = [message, ...describeAgentPositions(events), ...quoteScriptErrors(run)];
  return [{ ...at, what: 'it', detail: problemDetail(lines.join('\n')) }];
}

/** The message of a shell about a command that is killed with it. */
const WORDS_ABOUT_THE_END = /^(?:.*: line \d+: +\d+ )?(?:Terminated|Killed)\b/;

/** The stderr of killed scripts, which is below their agents' messages. */
const quoteScriptErrors = ({ agents }: TestRun['run']): readonly string[] =>
  agents.flatMap(({ id, state, phase }) => {
    if (phase.kind !== 'paused' || phase.why !== 'interrupted') return [];
    const said = phase.message
      .split('\n')
      .slice(1)
      .filter((line) => !WORDS_ABOUT_THE_END.test(line));
    return said.length === 0 ? [] : [`${id} in ${state} said on stderr:`, ...said.map((line) => `  ${line}`)];
  });

/** A message that begins with a position of its own is reported there, any other one at the scenario. */
function toScenarioError(message: string, ownFile: string, at: TextPosition): Difference {
  const [, file, line, column, rest] = /^(.+?):(\d+):(\d+): ([\s\S]*)$/.exec(message) ?? [];
  if (file === undefined || rest === undefined) {
    const short = message.startsWith(`${ownFile} `) ? `this scenario${message.slice(ownFile.length)}` : message;
    return { ...at, what: 'it', detail: problemDetail(`${short}.`) };
  }
  return { file, line: Number(line), column: Number(column), what: 'it', detail: problemDetail(`${rest}.`) };
}

/** True if the run did not complete and no expectation says that it should not. */
function hasUnexpectedFailure(expectations: readonly PositionedExpectation[], { run }: RunObservations): boolean {
  const isExpected = expectations.some(
    (expectation) =>
      (expectation.kind === 'status' && expectation.status !== 'completed') ||
      (expectation.kind === 'exit' && expectation.code !== EXIT.completed),
  );
  return run.status !== 'completed' && !isExpected;
}

/** Reports the failure of the run, unless an expectation about its end does so. */
function describeFailure({ at, expectations }: TestSpec, { run, reasons }: RunObservations): readonly Difference[] {
  if (expectations.some(({ kind }) => kind === 'status' || kind === 'exit')) return [];
  return [
    { ...at, what: 'it', detail: problemDetail(`the run should complete, but it ends as ${run.status}`) },
    ...reasons.map((reason) => ({ ...at, what: REASON_LABEL, detail: problemDetail(reason) })),
  ];
}

/** Judges a test run: differences from its expectations, warnings of the run, and what the replay has hidden. */
export async function evaluateTestRun(testCase: TestCase, testRun: TestRun): Promise<TestFindings> {
  const staleFindings = await checkStaleness(testCase, testRun);
  return {
    differences: [...(await compareWithExpectations(testCase.spec, testRun)), ...staleFindings.differences],
    warnings: [...collectRunWarnings(testRun.events, testCase), ...staleFindings.warnings],
  };
}

/** The warnings of a run, each once, with states as paths relative to the working directory. */
function collectRunWarnings(events: readonly Event[], { displayPath, states }: TestCase): readonly string[] {
  const messages = events.flatMap((event) => (event.kind === 'warning' ? event.message : []));
  return [...new Set(messages)].map((message) => {
    const file = message.slice(0, message.indexOf(':'));
    return states.includes(file) ? displayPath(file) + message.slice(file.length) : message;
  });
}

interface AgentPosition {
  readonly state: string;
  readonly turn: number | null;
  readonly activity: string;
}

const MAX_LINES = 10;

/** Describes where the unfinished agents of a run stood when it was stopped, one line per agent. */
export function describeAgentPositions(events: readonly Event[]): readonly string[] {
  const agents = new Map<string, AgentPosition>();
  for (const event of events) {
    if (event.kind === 'run_stopping' && event.stop.kind === 'stopped') break;
    if (!('agent' in event) || isCausedByStop(event)) continue;
    const isOver = event.kind === 'agent_ended' || event.kind === 'agent_cancelled';
    const after = isOver ? undefined : positionAfter(event, agents.get(event.agent));
    if (after === undefined) agents.delete(event.agent);
    else agents.set(event.agent, after);
  }
  const lines = Array.from(agents, ([agent, { state, turn, activity }]) => {
    return `${agent} in ${state}${turn === null ? '' : `, turn ${turn}`}: ${activity}`;
  });
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more} more`] : lines;
}

/** Such events follow from the stop itself, so they do not tell where an agent stood before it. */
const isCausedByStop = (event: Event): boolean =>
  (event.kind === 'turn_ended' && (event.failure === 'stopped' || event.failure === 'interrupted')) ||
  (event.kind === 'agent_paused' && event.why === 'interrupted');

type AgentEvent = Extract<Event, { agent: string }>;

const WAITING = 'it waited for its turn';

const ACTIVITY_AFTER_EVENT: Readonly<Partial<Record<AgentEvent['kind'], string>>> = {
  agent_started: WAITING,
  turn_ended: WAITING,
  transition: WAITING,
  woken: WAITING,
  answer_withheld: 'its answer was withheld',
  visit_limit: 'it was kept out by max_visits',
  agent_paused: 'it was paused',
  agent_failed: 'it had failed',
  joining: 'it waited for its workers',
  joined: WAITING,
  cancelling: 'it was being cancelled',
};

function positionAfter(event: AgentEvent, before: AgentPosition | undefined): AgentPosition | undefined {
  const { state } = event;
  switch (event.kind) {
    case 'turn_started':
      return {
        state,
        turn: event.turn,
        activity: `${event.evaluator === null ? '' : `evaluated by ${event.evaluator}: `}${isPrompt(event.evaluator ?? state) ? 'its answer was being replayed' : 'its script was running'}`,
      };
    case 'sleeping': {
      const activity = event.why === 'retry' ? 'it waited to be tried again' : 'it waited for the end of a usage limit';
      return { state, turn: null, activity };
    }
    default: {
      const activity = ACTIVITY_AFTER_EVENT[event.kind];
      if (activity === undefined) return before;
      const hasMoved = event.kind === 'transition' || event.kind === 'joined';
      return { state: hasMoved ? (event.to ?? state) : state, turn: null, activity };
    }
  }
}
