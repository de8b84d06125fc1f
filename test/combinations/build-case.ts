import {
  type AnswerDef,
  type Case,
  type EvaluatorDef,
  fullName,
  type PersonDef,
  type PolicyEntryDef,
  SILENT,
  type StateDef,
  type TagDef,
  type WorkflowDef,
  type WorkflowForm,
} from './case.ts';
import type { Extra, Plan, StepPlan, WayPlan } from './plan.ts';

type Draft = { -readonly [Key in keyof StateDef]: StateDef[Key] };

const HOUR_MS = 3_600_000;
/** More than all other costs of a case together. */
const BUDGET_MICROS = 60_000;

/** The folder that the run was started in. */
const PROJECT = '{{run_folder}}/../../../..';

const tag = (name: TagDef['tag'], target: string, attributes: TagDef['attributes'] = {}): TagDef => ({
  tag: name,
  target,
  attributes,
});
const says = (...tags: readonly TagDef[]): AnswerDef => ({ ...SILENT, tags });

/** Makes states and answers of a plan. */
export function buildCase(plan: Plan): Case {
  const builder = new Builder();
  const workflow = builder.addWorkflow('main', 'folder');
  builder.way(plan.main, workflow, 'START', true);
  const { workflows, asks, interrupts, files, lateFiles, hitsBudget, usesGit } = builder;
  return {
    workflows,
    asks,
    interrupts,
    files,
    lateFiles,
    usesGit,
    input: plan.input,
    vars: plan.hasVars ? { colour: 'red' } : {},
    budget: hitsBudget ? BUDGET_MICROS : null,
    maxIterations: plan.maxIterations,
    parallel: plan.parallel,
    crashes: plan.crashes,
    stops: plan.stops,
    slowAt: plan.slowAt,
    reserve: plan.reserve,
    waits: plan.waits,
    usesWorkspace: plan.usesWorkspace,
  };
}

interface WorkflowDraft extends WorkflowDef {
  readonly states: Map<string, StateDef>;
}

class Builder {
  readonly workflows = new Map<string, WorkflowDraft>();
  readonly asks = new Map<string, readonly (PersonDef | null)[]>();
  readonly interrupts = new Map<string, string | null>();
  readonly files: Record<string, string> = {};
  readonly lateFiles: Record<string, string> = {};
  usesGit = false;
  hitsBudget = false;
  private count = 0;

  addWorkflow(name: string, form: WorkflowForm): WorkflowDraft {
    const workflow = { name, form, vars: name === 'main' ? {} : { shade: `of ${name}` }, states: new Map() };
    this.workflows.set(name, workflow);
    return workflow;
  }

  /** Adds the states of a way to a workflow and returns the name of the first one. */
  way(
    { steps, end, endExtras, endsInScript }: WayPlan,
    workflow: WorkflowDraft,
    first: string | null,
    isMain = false,
  ): string {
    const [step, ...rest] = steps;
    const restPlan: WayPlan = { steps: rest, end, endExtras, endsInScript };
    if (step === undefined) return this.end(restPlan, workflow, first, isMain);
    const name = first ?? this.newName('S');
    const other = step.exit === 'reset-workflow' ? this.addWorkflow(this.newName('W'), step.form) : undefined;
    const next =
      other === undefined
        ? this.way(restPlan, workflow, null, isMain)
        : pathOf(other, this.way(restPlan, other, 'START', isMain));
    const draft = this.draft(name, step.runs === 'prompt' ? 'md' : 'sh');
    this.fillExit(draft, step, next, workflow, name);
    if (step.hasPolicy && draft.policy.length === 0 && draft.real === null)
      draft.policy = policyFor(draft, workflow, step.cost);
    this.fillExtras(draft, step.extras, workflow, step.exit !== 'forced');
    draft.answers = draft.answers.map((turns) => turns.map((each) => ({ ...each, cost: each.cost || step.cost })));
    this.add(workflow, name, draft);
    return name;
  }

  private end(
    { end, endExtras, endsInScript }: WayPlan,
    workflow: WorkflowDraft,
    first: string | null,
    isMain: boolean,
  ): string {
    const name = first ?? this.newName('E');
    const draft = this.draft(name, endsInScript && end !== 'bad-schema' && end !== 'hang' ? 'sh' : 'md');
    const text =
      end === 'schema' || end === 'bad-schema' ? `{"n": ${this.count}}` : `done ${this.count} after [{{input}}]`;
    draft.answers = [[says(tag('result', text))]];
    switch (end) {
      case 'schema':
        draft.hasSchema = true;
        break;
      case 'bad-schema':
        draft.hasSchema = true;
        draft.answers = [[says(tag('result', 'many')), ...(draft.answers[0] ?? [])]];
        break;
      case 'payload':
        draft.policy = [
          { tag: 'result', attributes: { payload: 'YES' } },
          { tag: 'result', attributes: { payload: 'NO' } },
        ];
        draft.answers = [[says(tag('result', 'YES'))]];
        break;
      case 'override':
        draft.evaluators = [
          {
            kind: 'match',
            pattern: 'TODO',
            instead: tag('result', endsInScript ? `{"n": ${this.count}}` : 'overridden'),
          },
        ];
        draft.answers = [[{ ...says(tag('goto', name)), words: 'TODO' }]];
        break;
      case 'fail':
        draft.answers = [[draft.file.endsWith('.md') ? { ...SILENT, fail: 'refusal' } : { ...SILENT, exit: 1 }]];
        break;
      case 'limited':
        draft.maxVisits = 1;
        draft.answers = [[says(tag('goto', name))]];
        break;
      case 'hang':
        draft.answers = [[says(tag('ask', 'Does anybody know?', { next: name }))]];
        this.asks.set(fullName(workflow.name, draft.file), isMain ? [] : [null]);
        break;
    }
    const isOver = end === 'fail' || end === 'limited' || end === 'hang';
    this.fillExtras(draft, isOver ? [] : endExtras, workflow, true);
    this.add(workflow, name, draft);
    return name;
  }

  private fillExit(draft: Draft, step: StepPlan, next: string, workflow: WorkflowDraft, name: string): void {
    const { exit } = step;
    const self = tag('goto', name);
    const final = (...tags: readonly TagDef[]): void => {
      draft.answers = [[says(...tags)]];
      // Nobody fills in the tags of a real script.
      if (step.runs === 'real' && !JSON.stringify(tags).includes('{{')) draft.real = tags;
    };
    const inner = (): WayPlan => step.inner ?? { steps: [], end: 'result', endExtras: [], endsInScript: true };
    const worker = (attributes: TagDef['attributes'] = {}): TagDef =>
      tag('fork', this.way(inner(), workflow, null), { item: `of ${name}`, ...attributes });
    const preference = step.extras.includes('preference') ? { model: 'haiku', effort: 'low' } : {};
    /** A guard or a timeout leads to a state of its own, so that it cannot be taken for the usual way. */
    const aside = (): string => this.aside(workflow, next);
    const caught = (outcome: string, turns: readonly AnswerDef[], ...more: readonly (readonly AnswerDef[])[]): void => {
      draft.on = { [outcome]: aside() };
      draft.answers = [turns, ...more];
      draft.real = null;
    };
    const isPrompt = draft.file.endsWith('.md');
    const broken: AnswerDef = isPrompt ? { ...SILENT, fail: 'refusal' } : { ...SILENT, exit: 1 };
    switch (exit) {
      case 'goto':
      case 'compact':
      case 'reset':
        final(tag(exit, next));
        return;
      case 'goto-input':
        final(tag('goto', next, { input: `given by ${name}` }));
        return;
      case 'goto-file':
        this.files[`${name}.txt`] = `from the file of ${name}`;
        final(tag('goto', next, { 'input-file': `${PROJECT}/${name}.txt` }));
        return;
      case 'reset-clear':
        final(tag('reset', next, { stack: 'clear' }));
        return;
      case 'reset-cd':
        final(tag('reset', next, { cd: '{{run_folder}}' }));
        return;
      case 'reset-task':
        final(tag('reset', next, { task: 'new' }));
        return;
      case 'reset-input':
        final(tag('reset', next, { input: `given by ${name}` }));
        return;
      case 'reset-workflow':
        final(tag('reset-workflow', next, step.hasPolicy ? {} : { stack: 'keep', input: `given by ${name}` }));
        return;
      case 'call':
      case 'function':
        final(tag(exit, this.way(inner(), workflow, null), { return: next, ...preference }));
        return;
      case 'call-workflow':
      case 'function-workflow':
        final(tag(exit, this.otherWorkflow(inner(), step.form), { return: next, input: `for ${name}`, ...preference }));
        return;
      case 'fork':
        final(worker({ next, ...preference }));
        return;
      case 'fork-goto':
        final(
          worker({ group: 'a', task: 'inherit', input: `for ${name}` }),
          worker({ group: 'b', task: 'inherit' }),
          tag('goto', next),
        );
        return;
      case 'fork-join':
        final(worker({ group: 'a', cd: `${PROJECT}/sub` }), worker({ group: 'b' }), tag('join', next));
        return;
      case 'fork-each':
        this.files[`${name}.json`] = JSON.stringify([{ item: 'one', input: 'given', group: 'a' }, 'two']);
        final(tag('fork-each', this.way(inner(), workflow, null), { in: `${PROJECT}/${name}.json`, next }));
        return;
      case 'fork-each-join':
        this.files[`${name}.txt`] = 'first\n\n second \n';
        final(
          tag('fork-each', this.way(inner(), workflow, null), { in: `${PROJECT}/${name}.txt`, group: 'a' }),
          tag('join', next),
        );
        return;
      case 'fork-each-as':
        this.files[`${name}.jsonl`] = '{"item": "one", "input": "given"}\n\n"two"\n';
        final(
          tag('fork-each', this.way(inner(), workflow, null), { in: `${PROJECT}/${name}.jsonl`, as: 'thing', next }),
        );
        return;
      case 'fork-each-empty':
        this.files[`${name}.json`] = '[]';
        final(tag('fork-each', this.way(inner(), workflow, null), { in: `${PROJECT}/${name}.json`, next }));
        return;
      case 'fork-worktree':
        this.usesGit = true;
        final(worker({ worktree: 'auto', group: 'a', task: 'inherit' }), tag('goto', next));
        return;
      case 'fork-worktree-join':
        this.usesGit = true;
        final(worker({ worktree: 'auto' }), worker({ group: 'a' }), tag('join', next));
        return;
      case 'late-file':
        this.lateFiles[`${name}.late`] = `from the late file of ${name}`;
        this.late(draft, tag('goto', next, { 'input-file': `${PROJECT}/${name}.late` }), next);
        return;
      case 'late-folder':
        this.lateFiles[`${name}-late/`] = '';
        this.late(draft, tag('reset', next, { cd: `${PROJECT}/${name}-late` }), next);
        return;
      case 'late-items':
        this.lateFiles[`${name}.late`] = 'one\ntwo\n';
        this.late(
          draft,
          tag('fork-each', this.way(inner(), workflow, null), { in: `${PROJECT}/${name}.late`, next }),
          next,
        );
        return;
      case 'fork-workflow':
        final(
          tag('fork-workflow', this.otherWorkflow(inner(), step.form), {
            next,
            item: `of ${name}`,
            input: `for ${name}`,
          }),
        );
        return;
      case 'join':
        final(tag('join', next, { input: `given by ${name}` }));
        return;
      case 'join-any':
        final(worker(), worker(), tag('join', next, { wait: 'any' }));
        return;
      case 'join-cancel':
        final(worker(), worker(), tag('join', next, { wait: '1', cancel: 'true' }));
        return;
      case 'join-timeout':
        final(
          worker(),
          tag('join', next, { timeout: '2h', timeout_next: aside(), ...(step.hasPolicy && { cancel: 'true' }) }),
        );
        return;
      case 'join-group':
        final(worker({ group: 'a' }), worker({ group: 'b' }), tag('join', next, { group: 'a' }));
        return;
      case 'ask':
      case 'ask-late':
      case 'ask-timeout':
      case 'ask-upload':
      case 'ask-files':
      case 'ask-choices':
        final(this.ask(exit, draft, workflow, next, aside));
        return;
      case 'implicit':
      case 'implicit-input':
      case 'forced':
        this.fillImplicit(draft, exit, next, name, step.runs);
        return;
      case 'on-error':
        caught('error', [broken]);
        return;
      case 'on-timeout':
        draft.retry = step.hasPolicy ? 0 : null;
        draft.timeout = '5m';
        caught('timeout', [{ ...SILENT, fail: 'timeout' }]);
        return;
      case 'on-no-tag':
        caught('no_tag', [{ ...SILENT, words: 'I forgot.' }]);
        return;
      case 'on-too-long':
        caught(isPrompt ? 'too_long' : 'error', [isPrompt ? { ...SILENT, fail: 'prompt_too_long' } : broken]);
        return;
      case 'on-denied':
        caught(isPrompt ? 'denied' : 'error', [
          isPrompt ? { ...SILENT, deny: ['Bash rm'], words: 'I may not.' } : broken,
        ]);
        return;
      case 'on-stuck':
        draft.stuckAfter = 2;
        caught('stuck', [says(self)], [says(self)], [says(tag('goto', next))]);
        return;
      case 'on-max-visits':
      case 'on-max-visits-call':
        draft.maxVisits = 2;
        draft.perCall = exit === 'on-max-visits-call';
        caught('max_visits', [says(self)], [says(self)]);
        return;
      case 'match':
        draft.evaluators = [
          { kind: 'match', pattern: 'TODO|FIXME', instead: tag('goto', next, { input: 'seen by {{agent_id}}' }) },
        ];
        draft.answers = [[{ ...says(self), words: 'There is a TODO left.' }]];
        return;
      case 'unless':
        draft.evaluators = [{ kind: 'unless', pattern: '(?i)^all done', instead: tag('reset', next) }];
        draft.answers = [[{ ...says(self), words: 'Not yet.' }]];
        return;
      case 'gate':
      case 'judge': {
        const verdict = { ...says(tag('goto', next, { input: 'overridden' })), words: 'Not tested.' };
        draft.evaluators = [this.evaluator(exit, workflow, [verdict])];
        draft.answers = [[says(self)]];
        return;
      }
      case 'loop':
        draft.answers = [
          [says(tag('goto', name, { input: 'once more' }))],
          [says(tag('reset', name))],
          [says(tag('goto', next))],
        ];
    }
  }

  private fillImplicit(
    draft: Draft,
    exit: 'implicit' | 'implicit-input' | 'forced',
    next: string,
    name: string,
    runs: string,
  ): void {
    const isForced = exit === 'forced';
    const input = exit === 'implicit-input' ? { input: 'kept [{{input}}]' } : {};
    // A script always has to say where it leads.
    if (draft.file.endsWith('.sh')) {
      draft.answers = [[says(tag('goto', next))]];
      draft.policy = [{ tag: 'goto', target: next, attributes: input }];
      draft.forceImplicit = isForced;
      if (runs === 'real') draft.real = [tag('goto', next)];
      return;
    }
    draft.policy = [{ tag: isForced ? 'reset' : 'goto', target: next, attributes: input }];
    draft.forceImplicit = isForced;
    draft.answers = [
      [isForced ? { ...says(tag('goto', name)), words: 'An example.' } : { ...SILENT, words: 'It is done.' }],
    ];
  }

  /** An answer that names what is missing until the run has paused; a prompt that is reminded says something else. */
  private late(draft: Draft, said: TagDef, next: string): void {
    draft.answers = [draft.file.endsWith('.md') ? [says(said), says(tag('goto', next))] : [says(said)]];
  }

  private ask(exit: string, draft: Draft, workflow: WorkflowDraft, next: string, aside: () => string): TagDef {
    const times = exit === 'ask-timeout' || exit === 'ask-late' ? { timeout: '24h', timeout_next: aside() } : {};
    const uploads =
      exit === 'ask-upload' ? { upload_slots: 'note.txt', upload_max_count: '2', upload_bucket: 'true' } : {};
    const answer: PersonDef = {
      // The label is what the next state gets, however it is chosen.
      text: exit === 'ask-choices' ? '2' : exit === 'ask' ? 'Yes, "do" it.' : `Answer for ${draft.file}`,
      afterMs: exit === 'ask-late' ? 3 * HOUR_MS : 0,
      files: exit === 'ask-upload' ? { 'note.txt': 'a note' } : {},
    };
    this.asks.set(fullName(workflow.name, draft.file), [exit === 'ask-timeout' ? null : answer, answer, answer]);
    const choices = exit === 'ask-choices' ? { choices: 'Yes | No, never', choices_many: 'true' } : {};
    const shown = exit === 'ask-files' ? { display_files: 'plan.md:The plan, shot.png' } : {};
    return tag('ask', `Shall ${draft.file} continue?`, { next, ...times, ...uploads, ...choices, ...shown });
  }

  private fillExtras(draft: Draft, extras: readonly Extra[], workflow: WorkflowDraft, mayRemind: boolean): void {
    if (draft.real !== null) return;
    const isPrompt = draft.file.endsWith('.md');
    const before: AnswerDef[] = [];
    let last: Partial<AnswerDef> = {};
    const remind = (answer: AnswerDef): void => {
      if (isPrompt && mayRemind && before.every(({ fail }) => fail !== null)) before.push(answer);
    };
    const fails = (fail: NonNullable<AnswerDef['fail']>): void => {
      if (isPrompt) before.push({ ...SILENT, fail });
    };
    for (const extra of extras) {
      switch (extra) {
        case 'print':
          last = { ...last, prints: ['{{agent_id}} has [{{input}}] [{{error}}]', 'and <goto>NOWHERE</goto>'] };
          break;
        case 'no-tag':
          if (draft.policy.length !== 1) remind({ ...SILENT, words: 'I forgot the tag.' });
          break;
        case 'cut-tag':
          remind({ ...says(tag('result', 'cut off')), isCut: true });
          break;
        case 'two-tags':
          remind(says(tag('goto', 'START'), tag('result', 'or this')));
          break;
        case 'unknown-state':
          remind(says(tag('goto', 'NOWHERE')));
          break;
        case 'missing-file':
          remind(says(tag('goto', 'START', { 'input-file': `${PROJECT}/never.txt` })));
          break;
        case 'missing-folder':
          remind(says(tag('reset', 'START', { cd: `${PROJECT}/never` })));
          break;
        case 'quota-half':
        case 'quota-full':
          if (isPrompt) last = { ...last, quota: extra === 'quota-full' ? 96 : 65 };
          break;
        case 'write':
          last = { ...last, writes: { [`${draft.file}.out`]: 'work' } };
          break;
        case 'forbidden-tag':
          if (draft.policy.length > 0) remind(says(tag('result', 'not permitted')));
          break;
        case 'retry':
          fails('overloaded');
          break;
        case 'continue':
          if (isPrompt) before.push({ ...SILENT, fail: 'overloaded', words: 'I have begun.' });
          break;
        case 'usage-limit':
          fails('usage_limit');
          break;
        case 'lost':
          fails('overloaded');
          fails('session_lost');
          break;
        case 'pause':
          fails('billing');
          break;
        case 'refuse':
          fails('refusal');
          break;
        case 'say':
          if (isPrompt) last = { ...last, say: `a message in ${draft.file}` };
          break;
        case 'deny':
          if (isPrompt) last = { ...last, deny: ['Bash rm'] };
          break;
        case 'summary-fails':
          last = { ...last, summary: { cost: 5, fails: true } };
          break;
        case 'confirm-match':
          if (draft.policy.length === 1 || draft.policy.some(({ attributes }) => attributes.payload !== undefined))
            break;
          draft.evaluators = [
            ...draft.evaluators,
            { kind: 'match', pattern: 'NEVER SAID', instead: tag('goto', 'START') },
          ];
          if (draft.policy.length > 0)
            draft.policy = [...draft.policy, { tag: 'goto', target: 'START', attributes: {} }];
          break;
        case 'confirm-gate':
        case 'confirm-judge': {
          const confirms = { ...SILENT, confirms: true, words: 'Fine.' };
          draft.evaluators = [
            this.evaluator(extra === 'confirm-gate' ? 'gate' : 'judge', workflow, [confirms]),
            ...draft.evaluators,
          ];
          break;
        }
        case 'judge-reminded': {
          const turns = [
            { ...SILENT, words: 'Well.' },
            { ...SILENT, confirms: true },
          ];
          draft.evaluators = [this.evaluator('judge', workflow, turns), ...draft.evaluators];
          break;
        }
        case 'gate-fails':
          draft.retry = 1;
          draft.evaluators = [this.evaluator('gate', workflow, [{ ...SILENT, exit: 3 }, SILENT]), ...draft.evaluators];
          break;
        case 'preference':
          if (isPrompt) Object.assign(draft, { model: 'sonnet', effort: 'high' });
          break;
        case 'schema':
          draft.hasSchema = draft.answers.every((turns) =>
            turns.every(({ tags }) => tags.every((each) => each.tag !== 'result')),
          );
          break;
        case 'retry-guard':
          draft.retry = 2;
          before.push(isPrompt ? { ...SILENT, fail: 'refusal' } : { ...SILENT, exit: 2 });
          break;
        case 'repeatable':
          draft.repeatable = !isPrompt;
          break;
        case 'max-visits':
          draft.maxVisits ??= 9;
          break;
        case 'interrupt':
        case 'interrupt-ask':
          if (isPrompt) this.interrupt(draft, workflow, extra === 'interrupt' ? `Stop, ${draft.file}!` : null);
          break;
        case 'budget':
          if (isPrompt && !this.hitsBudget) {
            this.hitsBudget = true;
            last = { ...last, cost: BUDGET_MICROS };
          }
      }
    }
    draft.answers = draft.answers.map((turns, at) => {
      if (at < draft.answers.length - 1) return turns;
      return [...before, ...turns.slice(0, -1), ...turns.slice(-1).map((each) => ({ ...each, ...last }))];
    });
    // The summary is asked for before the first turn of the first visit.
    const { summary = SILENT.summary } = last;
    draft.answers = draft.answers.map((turns) => turns.map((each) => ({ ...each, summary })));
  }

  private interrupt(draft: Draft, workflow: WorkflowDraft, words: string | null): void {
    const name = fullName(workflow.name, draft.file);
    if (this.interrupts.has(name)) return;
    this.interrupts.set(name, words);
    draft.answers = draft.answers.map((turns, at) =>
      at > 0 ? turns : [{ ...SILENT, words: 'Let me see.', seconds: 30 }, ...turns],
    );
    if (words === null && !this.asks.has(name))
      this.asks.set(
        name,
        Array.from({ length: 3 }, () => ({ text: `Continue, ${draft.file}.`, afterMs: 0, files: {} })),
      );
  }

  private evaluator(kind: 'gate' | 'judge', workflow: WorkflowDraft, turns: readonly AnswerDef[]): EvaluatorDef {
    const name = this.newName(kind === 'gate' ? 'G' : 'J');
    const draft = this.draft(name, kind === 'gate' ? 'sh' : 'md');
    draft.answers = [turns, turns, turns, turns].map((each) =>
      each.map((answer) => ({ ...answer, cost: kind === 'gate' ? 0 : 7 })),
    );
    this.add(workflow, name, draft);
    return { kind: kind === 'gate' ? 'script' : 'prompt', file: draft.file };
  }

  /** A short detour to a state. */
  private aside(workflow: WorkflowDraft, next: string): string {
    const name = this.newName('T');
    const draft = this.draft(name, 'md');
    draft.answers = Array.from({ length: 3 }, () => [
      says(next.includes('/') ? tag('reset-workflow', next) : tag('goto', next)),
    ]);
    this.add(workflow, name, draft);
    return name;
  }

  private otherWorkflow(plan: WayPlan, form: WorkflowForm): string {
    const workflow = this.addWorkflow(this.newName('W'), form);
    return pathOf(workflow, this.way(plan, workflow, 'START'));
  }

  private draft(name: string, extension: 'md' | 'sh'): Draft {
    return {
      file: `${name}.${extension}`,
      policy: [],
      forceImplicit: false,
      maxVisits: null,
      perCall: false,
      retry: null,
      on: {},
      stuckAfter: null,
      hasSchema: false,
      evaluators: [],
      repeatable: false,
      model: null,
      effort: null,
      timeout: null,
      real: null,
      answers: [],
    };
  }

  private add(workflow: WorkflowDraft, name: string, draft: Draft): void {
    workflow.states.set(name, draft);
  }

  private newName(letter: string): string {
    this.count += 1;
    return `${letter}${this.count}`;
  }
}

const pathOf = ({ name, form }: WorkflowDef, _state: string): string =>
  `../${name}${form === 'folder' ? '' : `.${form}`}`;

/** A policy that permits what the answers of a state and of its evaluators say; now and then also something else. */
function policyFor(draft: Draft, { states }: WorkflowDraft, cost: number): readonly PolicyEntryDef[] {
  const verdicts = draft.evaluators.flatMap((each) =>
    'instead' in each
      ? [each.instead]
      : (states
          .get(each.file.replace(/\.\w+$/, ''))
          ?.answers.flat()
          .flatMap(({ tags }) => tags) ?? []),
  );
  const entries = [...draft.answers.flat().flatMap(({ tags }) => tags), ...verdicts].map(entryFor);
  if (entries.length === 0) return [];
  const other: PolicyEntryDef = { tag: 'compact', target: draft.file.replace(/\.\w+$/, ''), attributes: {} };
  const unique = new Map([...entries, ...(cost % 2 === 0 ? [other] : [])].map((each) => [JSON.stringify(each), each]));
  return [...unique.values()];
}

function entryFor({ tag: name, target, attributes }: TagDef): PolicyEntryDef {
  const states = Object.entries(attributes).filter(([key]) => key === 'return' || key === 'next');
  const aim = name === 'ask' || name === 'result' ? {} : { target };
  return { tag: name, ...aim, attributes: Object.fromEntries(states) };
}
