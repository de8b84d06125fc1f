import { relative, resolve } from 'node:path';
import { relativizeWorkflowError } from '../app/start.ts';
import { currentPlatform } from '../app/workflows/platform.ts';
import { RaymondError } from '../errors.ts';
import { sourceScope, sourceScopes } from '../graph/workflow-source.ts';
import { workflowNameOf } from '../language/named-workflows.ts';
import { isPrompt } from '../language/state-names.ts';
import { openScenarioFile, resolveWorkflowPaths, type ScenarioFile, scenarioFileError } from '../scenario/file.ts';
import { readTestSpecs } from '../scenario/read-test-specs.ts';
import type { AnswersByState } from '../scenario/scenario.ts';
import type { TestSpec } from '../scenario/test-spec.ts';
import { digestState } from '../workflow/code-digests.ts';
import { openWorkflow, type Workflow } from '../workflow/workflow.ts';

/** A scenario together with one workflow that it tests. */
export interface TestCase {
  /** The scenario file, as messages name it. */
  readonly file: string;
  readonly workflow: Workflow;
  /** The files of the workflow. */
  readonly states: readonly string[];
  /** The path of such a file, relative to the working directory. */
  readonly displayPath: (state: string) => string;
  readonly spec: TestSpec;
}

/** A scenario file that cannot be used, or whose workflow cannot. */
export interface UnusableFile {
  readonly file: string;
  readonly error: RaymondError;
}

/** All test cases of some scenario files, and the files that cannot be used. */
export interface TestSuite {
  readonly testCases: readonly TestCase[];
  readonly unusable: readonly UnusableFile[];
}

/** Reads scenario files and checks each against its workflows, which may call others in `root`. */
export async function readTestSuite(
  files: readonly string[],
  cwd: string,
  root: string | null = null,
): Promise<TestSuite> {
  const openFrozen = createWorkflowOpener(root === null ? null : resolve(cwd, root));
  const workflows = new Map<string, Promise<Workflow>>();
  const workflowAt = (path: string): Promise<Workflow> => {
    const opened = workflows.get(path) ?? openFrozen(path);
    workflows.set(path, opened);
    return opened;
  };
  const testCases: TestCase[] = [];
  const unusable: UnusableFile[] = [];
  for (const file of files) {
    try {
      testCases.push(...(await readTestCases(openScenarioFile(resolve(cwd, file), file), cwd, workflowAt)));
    } catch (error) {
      if (!(error instanceof RaymondError)) throw error;
      unusable.push({ file, error });
    }
  }
  return { testCases, unusable };
}

/** Reads the test cases of one file: each scenario with each of its workflows. */
export async function readTestCases(
  file: ScenarioFile,
  cwd: string,
  workflowAt: (path: string) => Promise<Workflow>,
): Promise<readonly TestCase[]> {
  const open = async (path: string): Promise<Workflow> => {
    try {
      return await workflowAt(path);
    } catch (error) {
      // A problem of the file may be why the wrong workflow was looked for.
      if (file.problems.length > 0) throw scenarioFileError(file.name, file.problems);
      throw relativizeWorkflowError(cwd, path, error);
    }
  };
  const workflows = await Promise.all(resolveWorkflowPaths(file).map(open));
  const scopes = await Promise.all(workflows.map((workflow) => workflow.scopes()));
  const specs = readTestSpecs(file, scopes);
  return workflows.flatMap((workflow, at): readonly TestCase[] => {
    const spec = specs[at];
    const states = workflow.source.files.map((file) => file.file);
    const displayPath = (state: string): string => relative(cwd, workflow.locate(state));
    return spec === undefined ? [] : [{ file: file.name, workflow, states, displayPath, spec }];
  });
}

/** The test case with all scripts run for real, even where the scenario has answers for them. */
export function withRealScripts(testCase: TestCase): TestCase {
  const { spec } = testCase;
  const { scenario } = spec;
  const answers = filterPromptAnswers(scenario.answers);
  if (answers.size === scenario.answers.size && scenario.scripts === 'real') return testCase;
  const [ownAnswers, sharedAnswers] = [filterPromptAnswers(spec.ownAnswers), filterPromptAnswers(spec.sharedAnswers)];
  return {
    ...testCase,
    spec: { ...spec, ownAnswers, sharedAnswers, scenario: { ...scenario, answers, scripts: 'real' } },
  };
}

const filterPromptAnswers = (answers: AnswersByState): AnswersByState =>
  new Map([...answers].filter(([state]) => isPrompt(state)));

/** Opens workflows for tests, each as it is at that moment; those that it calls must be in `root`, absolute. */
export const createWorkflowOpener =
  (root: string | null) =>
  async (path: string): Promise<Workflow> =>
    freezeWorkflow(await openWorkflow(path, currentPlatform(), { root }));

/** A workflow that stays as it was when it was opened, for all of a test. */
function freezeWorkflow(workflow: Workflow): Workflow {
  const { source } = workflow;
  const states = new Map(
    source.files.flatMap((each) =>
      each.kind === 'state' ? [[each.file, { state: each.state, digest: digestState(each) }] as const] : [],
    ),
  );
  const stateWithCode: Workflow['stateWithCode'] = async (file) => states.get(file) ?? workflow.stateWithCode(file);
  return {
    ...workflow,
    scope: async (state) => sourceScope(source, state === undefined ? null : workflowNameOf(state)),
    scopes: async () => sourceScopes(source),
    state: async (file) => (await stateWithCode(file)).state,
    stateWithCode,
  };
}
