import type { AnswerDef, Outcome, TagDef } from '../case.ts';
import { formatAnswer, formatTag } from '../write-case.ts';
import { fitsSchema, folderOf, interpret, isPermitted, matches } from './answer-rules.ts';
import { checkFailure } from './failures.ts';
import { endAgent, expectEnd, startJoin } from './joins.ts';
import { enterState, type ModelAgent, type ModelFrame, newModelAgent } from './model-agent.ts';
import { expect, note, type RunModel } from './run-model.ts';

/** Follows an answer of an agent's state, or of the evaluator of one. */
export function followAnswer(model: RunModel, agent: ModelAgent, answer: AnswerDef): void {
  if (answer.deny.length > 0) note(agent, 'denied-tool');
  if (agent.evaluation !== null) {
    followVerdict(model, agent, answer);
    return;
  }
  const verdict = interpret(answer, model.answerFacts(agent));
  if (model.def(agent.state).policy.length > 0) note(agent, 'allowed_transitions');
  if (verdict.kind === 'go') {
    evaluate(model, agent, answer, verdict, 0);
    return;
  }
  const wereToolsDenied =
    answer.deny.length > 0 && verdict.problem === 'no_tag' && model.def(agent.state).policy.length === 1;
  remindOrFail(model, agent, wereToolsDenied ? 'tools_denied' : verdict.problem, answer);
}

interface Go {
  readonly tags: readonly TagDef[];
  readonly implicit: boolean;
}

/** Lets the evaluators from `from` on look at a transition; the first that overrides wins. */
function evaluate(model: RunModel, agent: ModelAgent, answer: AnswerDef, go: Go, from: number): void {
  const { evaluators } = model.def(agent.state);
  const text = model.render(agent, formatAnswer(answer));
  for (const [index, evaluator] of evaluators.entries()) {
    if (index < from) continue;
    if ('file' in evaluator) {
      note(agent, evaluator.kind === 'script' ? 'gate' : 'judge');
      const file = `${agent.state.includes('/') ? `${model.workflowOf(agent.state)}/` : ''}${evaluator.file}`;
      agent.evaluations.set(file, (agent.evaluations.get(file) ?? 0) + 1);
      const transition = withNext(go.tags).map(formatTag).join('\n');
      agent.evaluation = { index, file: evaluator.file, answer, text, transition, session: null };
      Object.assign(agent, {
        phase: 'ready',
        prompt: 'state',
        tries: 0,
        reminders: 0,
        retries: 0,
        wasDenied: false,
        paid: 0,
        stops: 0,
      });
      return;
    }
    note(agent, evaluator.kind);
    if (matches(evaluator.pattern, text) !== (evaluator.kind === 'match')) continue;
    if (
      evaluator.instead.tag === 'result' &&
      model.def(agent.state).hasSchema &&
      !fitsSchema(evaluator.instead.target)
    ) {
      note(agent, 'bad-result');
      failState(model, agent, 'error', null, 'state');
      return;
    }
    leave(model, agent, { tags: model.renderTags(agent, [evaluator.instead]), implicit: false }, 'evaluator', go.tags);
    return;
  }
  if (go.implicit && !answer.isCut && answer.tags.some((tag) => !isPermitted(tag, model.def(agent.state).policy)))
    agent.warnings.push('ignored-tag');
  leave(model, agent, go, 'answer', go.tags);
}

/** A fork without a `next` of its own has that of the goto or join beside it. */
function withNext(tags: readonly TagDef[]): readonly TagDef[] {
  const next = tags.find(({ tag }) => tag === 'goto' || tag === 'join')?.target;
  if (next === undefined) return tags;
  return tags.map((each) =>
    each.tag.startsWith('fork') && each.attributes.next === undefined
      ? { ...each, attributes: { ...each.attributes, next } }
      : each,
  );
}

/** Does what a gate or a judge says. */
function followVerdict(model: RunModel, agent: ModelAgent, answer: AnswerDef): void {
  const { evaluation } = agent;
  if (evaluation === null) return;
  const isGate = evaluation.file.endsWith('.sh');
  const file = evaluation.file;
  if (answer.confirms || (isGate && answer.tags.length === 0)) {
    expect(agent, 'evaluated', { evaluator: qualified(model, agent, file), verdict: 'confirmed' });
    agent.evaluation = null;
    const verdict = interpret(evaluation.answer, model.answerFacts(agent));
    if (verdict.kind === 'go') evaluate(model, agent, evaluation.answer, verdict, evaluation.index + 1);
    else remindOrFail(model, agent, verdict.problem, evaluation.answer);
    return;
  }
  const facts = model.answerFacts(agent);
  const verdict =
    answer.tags.length === 0
      ? ({ kind: 'wrong', problem: 'no_tag' } as const)
      : interpret(answer, { ...facts, state: { ...facts.state, forceImplicit: false } });
  if (verdict.kind === 'wrong') {
    remindOrFail(model, agent, verdict.problem, answer);
    return;
  }
  note(agent, 'override');
  expect(agent, 'evaluated', { evaluator: qualified(model, agent, file), verdict: 'overridden' });
  agent.evaluation = null;
  leave(model, agent, verdict, 'evaluator', [...evaluation.answer.tags]);
}

const qualified = (model: RunModel, agent: ModelAgent, file: string): string =>
  agent.state.includes('/') ? `${model.workflowOf(agent.state)}/${file}` : file;

/** Asks again for a valid answer, or fails. */
function remindOrFail(model: RunModel, agent: ModelAgent, problem: string, answer: AnswerDef): void {
  const def = model.def(agent.state);
  if (!model.isPromptTurn(agent)) {
    if (!CURABLE.has(problem)) {
      failState(model, agent, 'no_tag', null, 'state');
      return;
    }
    agent.kept = answer;
    noteMissing(agent, problem);
    expect(agent, 'agent_paused', { why: 'unfollowable' }, () => {
      agent.phase = 'paused';
    });
    return;
  }
  const limit = def.policy.length === 0 && agent.evaluation === null ? 1 : 3;
  const count = agent.reminders + 1;
  note(agent, problem === 'bad_result' ? 'bad-result' : 'reminder');
  noteMissing(agent, problem);
  if (count > limit) {
    const isDenied = agent.wasDenied && (problem === 'no_tag' || problem === 'tools_denied');
    if (agent.retries < (def.retry ?? 0)) Object.assign(agent, { reminders: 0, mustSay: false, wasDenied: false });
    failState(model, agent, isDenied ? 'denied' : 'no_tag', null, 'state');
    return;
  }
  expect(agent, 'reminded', { problem, count, limit });
  agent.mustSay ||= problem === 'tools_denied';
  Object.assign(agent, { reminders: count, prompt: 'reminder', phase: 'ready' });
}

/** Notes that an answer has named a file or folder that is missing. */
function noteMissing(agent: ModelAgent, problem: string): void {
  if (problem === 'no_file') note(agent, 'missing-file');
  if (problem === 'no_folder') note(agent, 'missing-folder');
}

/** Problems of the answer of a script that others than the script can solve. */
const CURABLE = new Set(['bad_state', 'no_file', 'no_folder']);

/** Failures after which nobody wants the conversation any more. */
export type Spoilt = 'spoilt' | null;

/** Tries a failed state again, lets a guard lead elsewhere, or fails the agent. `limit` is how often others than `retry` try again. */
export function failState(
  model: RunModel,
  agent: ModelAgent,
  outcome: Outcome,
  limit: number | null,
  prompt: ModelAgent['prompt'],
  spoilt: Spoilt = null,
): void {
  const def = model.def(agent.state);
  const allowed = def.retry ?? limit ?? 0;
  if (agent.retries < allowed) {
    agent.retries += 1;
    note(agent, def.retry === null ? 'transient' : 'retry');
    agent.phase = 'sleeping';
    agent.prompt = prompt;
    expect(agent, 'sleeping', { why: 'retry', count: agent.retries });
    return;
  }
  const check = checkFailure(model, agent, outcome, def.retry === null && limit === null ? null : agent.retries + 1);
  if (!takeGuard(model, agent, outcome, spoilt, check)) fail(model, agent, check);
}

function fail(model: RunModel, agent: ModelAgent, check: (message: unknown) => void): void {
  expectEnd(agent, 'agent_failed', {}, ({ message }) => {
    check(message);
    endAgent(model, agent, 'failed', String(message));
  });
}

/** Follows the guard that catches an outcome; false if there is none. */
export function takeGuard(
  model: RunModel,
  agent: ModelAgent,
  outcome: Outcome,
  spoilt: Spoilt = null,
  check = checkFailure(model, agent, outcome, null),
): boolean {
  const { on } = model.def(agent.state);
  const target = on[outcome] ?? (outcome === 'max_visits' ? undefined : on.error);
  if (target === undefined) return false;
  note(agent, `on-${on[outcome] === undefined ? 'error' : outcome}`);
  const to = model.named(agent, target);
  const { input, evaluation } = agent;
  const fields = {
    to,
    input,
    choice: { by: 'guard', name: on[outcome] === undefined ? 'error' : outcome },
    cwd: agent.cwd,
    depth: agent.stack.length,
    costMicros: agent.stateCost,
  };
  if (spoilt !== null && evaluation === null) agent.session = null;
  expect(agent, 'transition', fields, ({ guard }) => {
    const message = (guard as { message?: unknown } | undefined)?.message;
    check(message);
    enterState(agent, to, input);
    agent.error = String(message);
  });
  agent.phase = 'running';
  return true;
}

/** Leaves a state by these tags, unless it makes no progress. */
function leave(
  model: RunModel,
  agent: ModelAgent,
  { tags, implicit }: Go,
  by: 'answer' | 'evaluator',
  asked: readonly TagDef[],
): void {
  const { stuckAfter, policy, forceImplicit } = model.def(agent.state);
  if (stuckAfter !== null) {
    const written = asked.map(formatTag).join();
    const before = agent.streaks.get(agent.state);
    const count = before?.tags === written ? before.count + 1 : 1;
    agent.streaks.set(agent.state, { tags: written, count });
    if (count >= stuckAfter) {
      agent.streaks.delete(agent.state);
      if (!takeGuard(model, agent, 'stuck')) fail(model, agent, checkFailure(model, agent, 'stuck', null));
      return;
    }
  }
  if (implicit) note(agent, forceImplicit ? 'force_implicit' : 'implicit');
  if (by === 'evaluator') note(agent, 'override');
  if (policy.some(({ attributes }) => attributes.payload !== undefined)) note(agent, 'payload');
  if (implicit && tags.some(({ attributes }) => attributes.input !== undefined)) note(agent, 'policy-input');
  const [first] = tags;
  if (first?.tag === 'ask') {
    ask(model, agent, first, by, implicit);
    return;
  }
  applyTags(model, agent, { tags, implicit }, by);
}

function ask(model: RunModel, agent: ModelAgent, tag: TagDef, by: 'answer' | 'evaluator', implicit: boolean): void {
  const { next = '', timeout_next, timeout } = tag.attributes;
  note(
    agent,
    timeout === undefined ? (tag.attributes.upload_slots === undefined ? 'ask' : 'ask-upload') : 'ask-timeout',
  );
  const displayFiles = filesShown(tag.attributes.display_files);
  if (displayFiles.length > 0) note(agent, 'ask-files');
  const labels = tag.attributes.choices?.split('|').map((label) => label.trim()) ?? null;
  if (labels !== null) note(agent, 'ask-choices');
  agent.phase = 'asking';
  const fields = {
    state: agent.state,
    question: {
      text: tag.target,
      displayFiles,
      choices: labels && { labels, other: false, many: tag.attributes.choices_many === 'true' },
    },
    taskFolder: model.taskFolder(agent),
  };
  expect(agent, 'asked', fields, ({ ask: id, at }) => {
    agent.question = {
      id: String(id),
      next: model.named(agent, next),
      timeoutNext: timeout_next === undefined ? null : model.named(agent, timeout_next),
      untilMs: timeout === undefined ? null : at + Number.parseInt(timeout, 10) * 3_600_000,
      tag,
      by,
      implicit,
      interrupted: null,
    };
  });
}

/** Files that are shown with a question, with their labels. */
const filesShown = (written: string | undefined): readonly unknown[] =>
  (written?.split(',') ?? []).map((each) => {
    const [path = '', label = null] = each.trim().split(':');
    return { path, label };
  });

/** The worktree of an agent is made, or opened again. */
export function openWorktree(agent: ModelAgent): void {
  agent.phase = 'opening';
  note(agent, 'worktree');
  expect(agent, 'worktree_opening', {});
}

/** The attributes of tags that start workers which are no variables. */
const BUILT_IN = new Set(['next', 'cd', 'input', 'input-file', 'model', 'effort']);

function applyTags(model: RunModel, agent: ModelAgent, { tags, implicit }: Go, by: string): void {
  const costMicros = agent.stateCost;
  const before = { session: agent.session, stack: agent.stack, cwd: agent.cwd };
  let to: string | null = agent.state;
  let input: string | null = null;
  let result: string | null = null;
  let joinTag: TagDef | null = null;
  const workers: {
    readonly tag: TagDef;
    readonly variables: Readonly<Record<string, string>>;
    readonly input: string | null;
  }[] = [];
  for (const tag of tags) {
    const { attributes } = tag;
    const file = attributes['input-file'];
    const given = file === undefined ? (attributes.input ?? null) : (model.fileText(file) ?? null);
    if (attributes.input !== undefined) note(agent, 'input');
    if (file !== undefined) note(agent, 'input-file');
    noteTag(model, agent, tag);
    switch (tag.tag) {
      case 'join':
        joinTag = tag;
        to = model.named(agent, tag.target);
        input = given;
        break;
      case 'goto':
        to = model.named(agent, tag.target);
        input = given;
        break;
      case 'compact':
        to = model.named(agent, tag.target);
        input = given;
        if (agent.session === null) agent.warnings.push('no-summary');
        else agent.session = { ...agent.session, compact: true };
        break;
      case 'reset':
      case 'reset-workflow': {
        to = tag.tag === 'reset' ? model.named(agent, tag.target) : model.entryOf(tag.target);
        input = given;
        agent.session = null;
        const stack = attributes.stack ?? (tag.tag === 'reset' ? 'keep' : 'clear');
        if (stack === 'clear' && agent.stack.length > 0) agent.warnings.push(`stack ${agent.stack.length}`);
        if (stack === 'clear') agent.stack = [];
        if (attributes.cd !== undefined) agent.cwd = folderOf(attributes.cd, agent.cwd);
        if (attributes.task === 'new') agent.task = `${agent.id}.${agent.turns}`;
        break;
      }
      case 'call':
      case 'function':
      case 'call-workflow':
      case 'function-workflow': {
        const frame: ModelFrame = {
          state: model.named(agent, attributes.return ?? ''),
          session: agent.session,
          cwd: agent.cwd,
          task: agent.task,
          callVisits: agent.callVisits,
          model: agent.model,
          effort: agent.effort,
        };
        agent.stack = [...agent.stack, frame];
        agent.callVisits = new Map();
        agent.model = attributes.model ?? agent.model;
        agent.effort = attributes.effort ?? agent.effort;
        to = tag.tag.endsWith('-workflow') ? model.entryOf(tag.target) : model.named(agent, tag.target);
        input = given;
        const { session } = agent;
        if (tag.tag.startsWith('function')) agent.session = null;
        else if (session?.kind === 'open') agent.session = { ...session, kind: 'branch' };
        break;
      }
      case 'fork':
      case 'fork-each':
      case 'fork-workflow': {
        if (attributes.next !== undefined) to = model.named(agent, attributes.next);
        const own = Object.entries(attributes).filter(
          ([key, value]) =>
            !BUILT_IN.has(key) &&
            !(key === 'task' && value === 'inherit') &&
            !(key === 'worktree' && value === 'auto') &&
            !(tag.tag === 'fork-each' && (key === 'in' || key === 'as')),
        );
        const variables = Object.fromEntries(own);
        const items = tag.tag === 'fork-each' ? itemsOf(model, attributes.in ?? '', attributes.as) : [null];
        if (items.length === 0) agent.warnings.push('no-items');
        for (const item of items)
          workers.push({ tag, variables: { ...item?.variables, ...variables }, input: item?.input ?? given });
        break;
      }
      case 'result': {
        const frame = agent.stack.at(-1);
        if (frame === undefined) {
          result = tag.target.trim();
          to = null;
          break;
        }
        note(agent, 'return');
        const { state, ...rest } = frame;
        Object.assign(agent, rest, { stack: agent.stack.slice(0, -1) });
        to = state;
        input = tag.target.trim();
      }
    }
  }
  const fields = {
    to,
    tag: tags[0]?.tag,
    implicit,
    choice: { by },
    input: result ?? input,
    cwd: agent.cwd,
    depth: agent.stack.length,
    costMicros,
  };
  agent.phase = 'running';
  expect(agent, 'transition', fields, () => {
    if (to !== null) enterState(agent, to, input);
  });
  if (result !== null) {
    const text = result;
    expectEnd(agent, 'agent_ended', { result: text }, () => endAgent(model, agent, 'ended', text));
    return;
  }
  for (const worker of workers) startWorker(model, agent, worker, before.cwd);
  if (joinTag !== null) startJoin(model, agent, joinTag);
}

function noteTag(model: RunModel, agent: ModelAgent, { tag, attributes, target }: TagDef): void {
  note(
    agent,
    tag === 'join' ? joinFeature(attributes) : tag === 'reset' && attributes.stack === 'clear' ? 'stack-clear' : tag,
  );
  if (attributes.cd !== undefined && tag === 'reset') note(agent, 'cd');
  if (attributes.as !== undefined) note(agent, 'as');
  if (attributes.task === 'new') note(agent, 'new-task');
  if (attributes.model !== undefined) note(agent, 'model');
  if (tag.endsWith('-workflow'))
    note(agent, `${model.workflow(model.workflowOf(model.entryOf(target))).form}-workflow`);
  if (tag === 'result' && model.def(agent.state).hasSchema) note(agent, 'result_schema');
}

function joinFeature({ wait, cancel, timeout, group }: TagDef['attributes']): string {
  if (timeout !== undefined) return 'join-timeout';
  if (cancel !== undefined) return 'join-cancel';
  if (group !== undefined) return 'join-group';
  return wait === undefined ? 'join' : 'join-any';
}

/** The items of a file. */
function itemsOf(
  model: RunModel,
  path: string,
  as = 'item',
): readonly { readonly variables: Record<string, string>; readonly input: string | null }[] {
  const text = model.fileText(path) ?? '';
  const lines = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  const items: unknown[] = path.endsWith('.json')
    ? JSON.parse(text)
    : path.endsWith('.jsonl')
      ? lines.map((line) => JSON.parse(line))
      : lines;
  return items.map((item, at) => {
    const index = String(at + 1);
    if (typeof item !== 'object' || item === null) return { variables: { [as]: String(item), index }, input: null };
    const { input = null, ...variables } = item as Record<string, string>;
    const whole = as === 'item' ? {} : { [as]: JSON.stringify(item) };
    return { variables: { ...variables, index, ...whole }, input };
  });
}

function startWorker(
  model: RunModel,
  parent: ModelAgent,
  {
    tag,
    variables,
    input,
  }: { readonly tag: TagDef; readonly variables: Readonly<Record<string, string>>; readonly input: string | null },
  cwd: string,
): void {
  const { attributes } = tag;
  const isWorkflow = tag.tag === 'fork-workflow';
  const state = isWorkflow ? model.entryOf(tag.target) : model.named(parent, tag.target);
  const name = isWorkflow ? model.workflowOf(state) : tag.target;
  let id: string;
  do {
    parent.forks += 1;
    id = `${parent.id}_${name.toLowerCase().slice(0, 6)}${parent.forks}`;
  } while (model.agents.has(id));
  const worker = newModelAgent({
    id,
    parent: parent.id,
    variables,
    state,
    input,
    cwd: attributes.cd === undefined ? cwd : folderOf(attributes.cd, cwd),
    task: attributes.task === 'inherit' ? parent.task : id,
    model: attributes.model ?? null,
    effort: attributes.effort ?? null,
    worktree: attributes.worktree === 'auto' ? { place: null, isOpen: false, content: null } : null,
  });
  note(worker, 'worker');
  if (attributes.task === 'inherit') note(worker, 'inherited-task');
  model.agents.set(id, worker);
  expect(worker, 'agent_started', { state, parent: parent.id, input, variables, cwd: worker.cwd });
  if (worker.worktree !== null) openWorktree(worker);
}
