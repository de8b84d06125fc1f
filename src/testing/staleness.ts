import { fingerprintScript } from '../app/record-run.ts';
import { turnRefOf } from '../core/turns/due.ts';
import { isAnswer } from '../graph/control-flow.ts';
import { type Edge, isPossibleTransition } from '../graph/graph.ts';
import { isPrompt } from '../language/state-names.ts';
import type { LintFinding } from '../lint/lint.ts';
import type { CannedOutput, StateAnswers } from '../scenario/scenario.ts';
import {
  collectTakenTags,
  formatEdgeTarget,
  matchesEdge,
  readWorkflowFacts,
  type TakenTag,
  type WorkflowFacts,
} from './coverage.ts';
import type { Difference, TestFindings } from './difference.ts';
import { problemDetail } from './matchers.ts';
import type { TestRun } from './run-scenario.ts';
import type { TestCase } from './suite.ts';

/**
 * Compares the canned answers of a test with the states as they are now, since a replay neither reads prompts nor runs
 * scripts.
 */
export async function checkStaleness(testCase: TestCase, { events }: TestRun): Promise<TestFindings> {
  const { answers } = testCase.spec.scenario;
  const entered = new Set(events.flatMap((event) => (event.kind === 'turn_started' ? turnRefOf(event).state : [])));
  const enteredStates = [...answers].filter(([state]) => entered.has(state));
  const facts = await readWorkflowFacts(testCase.workflow);
  const scripts = enteredStates.filter(([state]) => !isPrompt(state));
  // A state that no agent left has hidden nothing.
  const exited = new Set(events.flatMap((event) => (event.kind === 'transition' ? event.state : [])));
  const findings = enteredStates.filter(([state]) => exited.has(state)).flatMap(([state]) => facts.findingsFor(state));
  const takenTags = collectTakenTags(events);
  const impossibleTags = scripts.flatMap(([script, stateAnswers]) => {
    const edges = facts.edgesOf(script);
    if (edges === null) return [];
    const tags = takenTags.filter(
      ({ from, guard, evaluator }) => from === script && guard === null && evaluator === null,
    );
    return findImpossibleTags(tags, edges).map((tag) => describeImpossibleTag(tag, edges, stateAnswers));
  });
  return {
    differences: [...impossibleTags, ...findings.filter(isError).map((each) => findingToDifference(each, testCase))],
    warnings: [
      ...findings.filter((each) => !isError(each)).map((each) => formatFindingWarning(each, testCase)),
      ...scripts.flatMap(([script]) => warnIfScriptChanged(script, facts, testCase)),
    ],
  };
}

/** The tags that were followed though the script cannot print them, each once. */
function findImpossibleTags(takenTags: readonly TakenTag[], edges: readonly Edge[]): readonly TakenTag[] {
  const unmatched = takenTags.filter(
    (takenTag) => !edges.some((edge) => isPossibleTransition(edge) && matchesEdge(edge, takenTag)),
  );
  return [...new Map(unmatched.map((takenTag) => [formatTakenTag(takenTag), takenTag])).values()];
}

function describeImpossibleTag(takenTag: TakenTag, edges: readonly Edge[], stateAnswers: StateAnswers): Difference {
  const possibleTags = [...new Set(edges.filter(isAnswer).map(formatEdgeTag))];
  const instead = possibleTags.length === 0 ? 'its text has no tag' : `its text has only ${possibleTags.join(', ')}`;
  const { line, column } = stateAnswers.outputs.find((output) => mayContain(output, takenTag)) ?? stateAnswers;
  const message = `${takenTag.from} cannot print ${formatTakenTag(takenTag)}, which this answer lets it print: ${instead}`;
  return { file: stateAnswers.file, line, column, what: takenTag.from, detail: problemDetail(message) };
}

/** True if a canned output may be the one that holds the tag: `{{…}}` in it may have become any name. */
const mayContain = ({ text }: CannedOutput, { tag, written }: TakenTag): boolean =>
  text.toLowerCase().includes(`<${tag}`) && (text.includes(written.target ?? '') || text.includes('{{'));

const isError = ({ level }: LintFinding): boolean => level === 'error';

const findingToDifference = ({ file, line, column, message }: LintFinding, { displayPath }: TestCase): Difference => {
  return { file: displayPath(file), line, column, what: file, detail: problemDetail(message) };
};

const formatFindingWarning = ({ file, line, column, message }: LintFinding, { displayPath }: TestCase): string =>
  `${displayPath(file)}${line === 0 ? '' : `:${line}:${column}`}: ${message}`;

function warnIfScriptChanged(
  script: string,
  { textOf }: WorkflowFacts,
  { spec, displayPath }: TestCase,
): readonly string[] {
  const recordedFingerprint = spec.scenario.scriptFingerprints.get(script);
  if (recordedFingerprint === undefined || recordedFingerprint === fingerprintScript(textOf(script))) return [];
  return [
    `${displayPath(script)} has changed since this was recorded, and the recorded output was used: run it with --real-scripts, or record again`,
  ];
}

const formatTakenTag = ({ tag, target, attributes }: TakenTag): string =>
  formatTag(tag, target, attributes.return ?? null, attributes.next ?? null);

const formatEdgeTag = ({ tag, to, return: returnTo, next }: Edge): string =>
  tag === 'ask'
    ? formatTag(tag, null, null, formatEdgeTarget(to, '…'))
    : formatTag(tag, formatEdgeTarget(to, '…'), formatEdgeTarget(returnTo, '…'), formatEdgeTarget(next, '…'));

function formatTag(tag: string, to: string | null, returnTo: string | null, next: string | null): string {
  const more = `${returnTo === null ? '' : ` return="${returnTo}"`}${next === null ? '' : ` next="${next}"`}`;
  return `\`<${tag}${more}>${to ?? '…'}</${tag}>\``;
}
