import { basename } from 'node:path';
import {
  type AnswerDef,
  type Case,
  fullName,
  isPromptFile,
  SILENT,
  type StateDef,
  type TagDef,
  type WorkflowDef,
} from '../case.ts';
import type { Observation } from '../observation.ts';
import { JUDGE_TEMPLATE, PROMPT_TEMPLATE } from '../write-case.ts';
import { type AnswerFacts, renderTag } from './answer-rules.ts';
import { type Expectation, type ModelAgent, type ModelSession, newModelAgent } from './model-agent.ts';
import { fillIn } from './render.ts';

/** The result of comparing a run with the model: it is not as it should be. */
export class Mismatch extends Error {}

/** What the model knows about a run as a whole. */
export class RunModel {
  readonly subject: Case;
  readonly project: string;
  readonly runId: string;
  readonly agents = new Map<string, ModelAgent>();
  /** Files of results by their paths, as they are in the end. */
  readonly resultFiles: ReadonlyMap<string, unknown>;
  spent = 0;
  turns = 0;
  iterations = 0;
  budget: number | null;
  maxIterations: number | null;
  stop: ModelStop | null = null;
  /** What the subscription was last said to be used of, and until when; null if it is empty. */
  quota: { readonly percent: number; readonly resetsAt: number } | null = null;
  /** How often something else was said about it. */
  quotaReports = 0;
  slowAt: number | null;
  reserve: number | null;
  /** True once files were added that had been missing. */
  hasLateFiles = false;
  /** Files that agents have written, or may have. */
  readonly written: { readonly path: string; readonly isSure: boolean }[] = [];
  /** Ends that joins take note of when the resume is over. */
  ends: (() => void)[] = [];
  /** The clone that the run works in, once it was made. */
  clone: string | null = null;
  isCloneOpen = false;
  /** True if nobody had the time to push what is in it. */
  isUnpushed = false;
  /** Until when no Claude turn may start. */
  hold = 0;
  /** What must be observed of the run next. */
  readonly expected: Expectation[] = [];
  /** How often an agent has asked in a state. */
  readonly questions = new Map<string, number>();
  private joins = 0;

  constructor(subject: Case, project: string, runId: string, resultFiles: ReadonlyMap<string, unknown>) {
    this.subject = subject;
    this.project = project;
    this.runId = runId;
    this.resultFiles = resultFiles;
    this.budget = subject.budget;
    this.slowAt = subject.slowAt;
    this.reserve = subject.reserve;
    this.maxIterations = subject.maxIterations;
  }

  start(): void {
    const start = this.workflow('main').states.get('START');
    if (start === undefined) throw new Error('there is no START');
    const main = newModelAgent({
      id: 'main',
      parent: null,
      variables: {},
      state: start.file,
      input: this.subject.input,
      cwd: this.project,
      task: 'main',
      model: null,
      effort: null,
    });
    this.agents.set('main', main);
    expect(main, 'agent_started', { state: start.file, parent: null, input: this.subject.input, cwd: this.project });
  }

  /** True while agents are left that a resume puts back to work. */
  isResuming(): boolean {
    return [...this.agents.values()].some(({ mustResume, joinedBy }) => mustResume && joinedBy === null);
  }

  /** The text of a file of the project; undefined if there is none. */
  fileText(path: string): string | undefined {
    const { files, lateFiles } = this.subject;
    return files[basename(path)] ?? (this.hasLateFiles ? lateFiles[basename(path)] : undefined);
  }

  hasFolder(path: string): boolean {
    const late = `${basename(path)}/`;
    if (basename(path) === 'never') return false;
    return !Object.hasOwn(this.subject.lateFiles, late) || this.hasLateFiles;
  }

  /** How many Claude turns may run at once. */
  parallelTurns(): number {
    const { parallel } = this.subject;
    const { quota, slowAt } = this;
    if (quota === null || slowAt === null || quota.percent < slowAt) return parallel;
    const end = 100 - (this.reserve ?? 0);
    if (quota.percent >= end || end <= slowAt) return 1;
    return Math.max(1, Math.floor(parallel - ((parallel - 1) * (quota.percent - slowAt)) / (end - slowAt)));
  }

  /** Until when the rest of the subscription is kept for the user; null if there is more than that. */
  reservedUntil(): number | null {
    const { quota, reserve } = this;
    return quota !== null && reserve !== null && quota.percent >= 100 - reserve ? quota.resetsAt : null;
  }

  /** Notes that everybody who is not done has met something. */
  noteAll(name: string): void {
    for (const agent of this.agents.values())
      if (agent.phase !== 'ended' && agent.phase !== 'cancelled' && agent.joinedBy === null) note(agent, name);
  }

  /** Stops the run, unless there is a stronger reason already. */
  stopFor(stop: ModelStop): void {
    if (this.stop === null || STOPS[stop] < STOPS[this.stop]) this.stop = stop;
  }

  newJoinId(): number {
    this.joins += 1;
    return this.joins;
  }

  agent(id: unknown): ModelAgent {
    const agent = this.agents.get(String(id));
    if (agent === undefined) throw new Mismatch(`there should be no agent ${id}`);
    return agent;
  }

  workflow(name: string): WorkflowDef {
    const workflow = this.subject.workflows.get(name);
    if (workflow === undefined) throw new Error(`there is no workflow ${name}`);
    return workflow;
  }

  /** The name of the workflow that a state belongs to. */
  workflowOf(state: string): string {
    const slash = state.indexOf('/');
    return slash === -1 ? 'main' : state.slice(0, slash);
  }

  /** The definition of a state or an evaluator by its full name. */
  def(state: string): StateDef {
    const file = basename(state);
    const found = this.workflow(this.workflowOf(state)).states.get(file.replace(/\.\w+$/, ''));
    if (found === undefined || found.file !== file) throw new Error(`there is no state ${state}`);
    return found;
  }

  /** The full name of a state that an agent names. */
  named(agent: ModelAgent, name: string): string {
    const workflow = this.workflowOf(agent.state);
    const state = this.workflow(workflow).states.get(name);
    if (state === undefined) throw new Error(`there is no state ${name}`);
    return fullName(workflow, state.file);
  }

  /** The first state of the workflow that a path names. */
  entryOf(path: string): string {
    const name = path.replace(/^\.\.\//, '').replace(/\.\w+$/, '');
    const start = this.workflow(name).states.get('START');
    if (start === undefined) throw new Error(`${name} has no START`);
    return fullName(name, start.file);
  }

  /** The file of the agent's next or running turn: its state, or the evaluator of the answer. */
  fileOf(agent: ModelAgent): string {
    return agent.evaluation === null ? agent.state : fullName(this.workflowOf(agent.state), agent.evaluation.file);
  }

  taskFolder({ task }: ModelAgent): string {
    return `${this.project}/.raymond/tasks/${this.runId}/${task}`;
  }

  get runFolder(): string {
    return `${this.project}/.raymond/tasks/${this.runId}/shared`;
  }

  /** The variables that a prompt, an answer or a template of the agent's state has. */
  variables(agent: ModelAgent): Readonly<Record<string, string>> {
    const { input, error, askId, evaluation } = agent;
    return {
      ...this.workflow(this.workflowOf(agent.state)).vars,
      ...this.subject.vars,
      ...agent.variables,
      workflow_id: this.runId,
      agent_id: agent.id,
      state: agent.state,
      task_folder: this.taskFolder(agent),
      run_folder: this.runFolder,
      ...(input !== null && { input, result: input }),
      ...(error !== null && { error }),
      ...(askId !== null && { ask_id: askId }),
      ...(agent.results !== null && { results: formatResults(agent.results) }),
      ...(evaluation !== null && { output: evaluation.text, transition: evaluation.transition }),
    };
  }

  /** Fills in a template with the variables of an agent. */
  render(agent: ModelAgent, template: string): string {
    return fillIn(template, this.variables(agent));
  }

  /** The text of the prompt of a state or a judge; the file of results is compared elsewhere. */
  promptOf(agent: ModelAgent): string {
    return this.render(agent, agent.evaluation === null ? PROMPT_TEMPLATE : JUDGE_TEMPLATE);
  }

  answerFacts(agent: ModelAgent): AnswerFacts {
    return {
      state: this.def(agent.state),
      workflow: this.workflow(this.workflowOf(agent.state)),
      mustSay: agent.mustSay,
      render: (template) => this.render(agent, template),
      hasFile: (path) => this.fileText(path) !== undefined,
      hasFolder: (path) => this.hasFolder(path),
    };
  }

  /** The workers of an agent that no join has taken note of. */
  openWorkers({ id }: ModelAgent, group: string | null): readonly ModelAgent[] {
    return [...this.agents.values()].filter(
      (each) => each.parent === id && each.joinedBy === null && (group === null || each.variables.group === group),
    );
  }

  /** The canned answer of the running turn. */
  answerOf(agent: ModelAgent): AnswerDef {
    const file = this.fileOf(agent);
    const { real, answers } = this.def(file);
    const visit = (agent.evaluation === null ? agent.visits.get(agent.state) : agent.evaluations.get(file)) ?? 0;
    if (real !== null) return { ...SILENT, tags: real, prints: [this.realPrint(agent, visit)] };
    const turns = answers[visit - 1];
    const answer = turns?.[agent.tries - agent.stops - 1] ?? turns?.at(-1);
    if (answer === undefined) throw new Mismatch(`visit ${visit} of ${agent.id} to ${file} has no answer`);
    return answer;
  }

  /** A real script prints what it finds in its environment. */
  private realPrint(agent: ModelAgent, visit: number): string {
    const { state, input, error, variables } = agent;
    return [state, input ?? 'none', error ?? 'none', visit, variables.item ?? 'none'].join('|').trim();
  }

  sessionOf({ evaluation, session }: ModelAgent): ModelSession | null {
    return evaluation === null ? session : evaluation.session;
  }

  setSession(agent: ModelAgent, session: ModelSession | null): void {
    if (agent.evaluation === null) agent.session = session;
    else agent.evaluation.session = session;
  }

  isOverBudget(): boolean {
    return this.budget !== null && this.spent >= this.budget;
  }

  isPromptTurn(agent: ModelAgent): boolean {
    return isPromptFile(this.fileOf(agent));
  }

  renderTags(agent: ModelAgent, tags: readonly TagDef[]): readonly TagDef[] {
    return tags.map((tag) => renderTag(tag, (template) => this.render(agent, template)));
  }
}

/** Reasons for a run to stop; one with a lower number is stronger. */
const STOPS = { interrupted: 1, budget: 2, iterations: 3, usage_limit: 4, stopped: 4 } as const;
export type ModelStop = keyof typeof STOPS;

/** The results of a join as a list to read; the generated ones are all short. */
function formatResults(workers: readonly ModelAgent[]): string {
  if (workers.length === 0) return 'No worker was joined.';
  return workers
    .map((worker) => {
      const [variable] = Object.entries(worker.variables);
      const name = variable === undefined ? worker.id : `${worker.id} ${variable.join('=')}`;
      const text = worker.result ?? worker.failure ?? '';
      const place = worker.worktree?.place;
      const left =
        worker.worktree?.content?.kept === true
          ? `, left uncommitted changes on the branch ${place?.branch} in ${place?.path}`
          : '';
      return [
        `- ${name}: ${worker.phase}${left}`,
        ...(text === '' ? [] : text.split('\n').map((line) => `  ${line}`)),
      ].join('\n');
    })
    .join('\n');
}

/** Notes what must be observed next of an agent. */
export function expect(
  agent: ModelAgent,
  kind: string,
  fields: Readonly<Record<string, unknown>>,
  then?: (observed: Observation) => void,
): void {
  agent.expected.push({ kind, fields, ...(then && { then }) });
}

/** Notes that an agent has met a feature. */
export const note = ({ features }: ModelAgent, ...names: readonly string[]): void => {
  for (const name of names) features.add(name);
};

/** Throws if what was observed lacks something of what was expected. */
export function compare(
  expected: Readonly<Record<string, unknown>>,
  observed: Readonly<Record<string, unknown>>,
  what: string,
): void {
  for (const [key, value] of Object.entries(expected)) {
    if (!includes(value, observed[key]))
      throw new Mismatch(
        `${what}: \`${key}\` should be ${JSON.stringify(value)}, but is ${JSON.stringify(observed[key])}`,
      );
  }
}

function includes(expected: unknown, observed: unknown): boolean {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected))
    return JSON.stringify(expected) === JSON.stringify(observed);
  if (typeof observed !== 'object' || observed === null) return false;
  return Object.entries(expected).every(([key, value]) => includes(value, (observed as Record<string, unknown>)[key]));
}
