import type { WorkflowForm } from './case.ts';
import { FEATURES, type Feature } from './features.ts';
import type { Pair, PairTable } from './pairs.ts';
import type { End, Exit, Extra, Plan, StepPlan, WayPlan } from './plan.ts';

/** How a feature comes about: by a step, by the end of a way, or by the run. */
interface Recipe {
  readonly exit?: Exit;
  readonly extra?: Extra;
  readonly end?: End;
  readonly runs?: StepPlan['runs'];
  readonly form?: WorkflowForm;
  readonly hasPolicy?: true;
  /** The end of the worker or callee that the step starts. */
  readonly innerEnd?: End;
}

const RECIPES: Readonly<Partial<Record<Feature, Recipe>>> = {
  script: { exit: 'goto', runs: 'script' },
  'real-script': { exit: 'goto', runs: 'real' },
  goto: { exit: 'goto' },
  input: { exit: 'goto-input' },
  'input-file': { exit: 'goto-file' },
  compact: { exit: 'compact' },
  reset: { exit: 'reset' },
  'stack-clear': { exit: 'reset-clear' },
  cd: { exit: 'reset-cd' },
  'new-task': { exit: 'reset-task' },
  call: { exit: 'call' },
  function: { exit: 'function' },
  return: { exit: 'call' },
  'call-workflow': { exit: 'call-workflow' },
  'function-workflow': { exit: 'function-workflow' },
  'reset-workflow': { exit: 'reset-workflow' },
  'fork-workflow': { exit: 'fork-workflow' },
  'folder-workflow': { exit: 'call-workflow', form: 'folder' },
  'yaml-workflow': { exit: 'call-workflow', form: 'yaml' },
  'zip-workflow': { exit: 'call-workflow', form: 'zip' },
  fork: { exit: 'fork' },
  'fork-each': { exit: 'fork-each' },
  as: { exit: 'fork-each-as' },
  'kept-worktree': { extra: 'write' },
  join: { exit: 'fork-join' },
  'join-any': { exit: 'join-any' },
  'join-cancel': { exit: 'join-cancel' },
  'join-timeout': { exit: 'join-timeout' },
  'timed-out-join': { exit: 'join-timeout', innerEnd: 'hang', hasPolicy: true },
  'join-group': { exit: 'join-group' },
  'joined-failure': { exit: 'fork-join', innerEnd: 'fail' },
  ask: { exit: 'ask' },
  'ask-timeout': { exit: 'ask-timeout' },
  'ask-upload': { exit: 'ask-upload' },
  'ask-files': { exit: 'ask-files' },
  'ask-choices': { exit: 'ask-choices' },
  'missing-file': { exit: 'late-file' },
  'missing-folder': { exit: 'late-folder' },
  print: { extra: 'print' },
  result_schema: { exit: 'call', innerEnd: 'schema' },
  'bad-result': { exit: 'call', innerEnd: 'bad-schema' },
  payload: { exit: 'call', innerEnd: 'payload' },
  allowed_transitions: { exit: 'goto', hasPolicy: true },
  implicit: { exit: 'implicit' },
  'policy-input': { exit: 'implicit-input' },
  force_implicit: { exit: 'forced' },
  reminder: { extra: 'cut-tag' },
  max_visits: { exit: 'on-max-visits' },
  max_visits_per: { exit: 'on-max-visits-call' },
  retry: { extra: 'retry-guard' },
  'on-error': { exit: 'on-error' },
  'on-timeout': { exit: 'on-timeout' },
  'on-no_tag': { exit: 'on-no-tag' },
  'on-too_long': { exit: 'on-too-long' },
  'on-denied': { exit: 'on-denied' },
  'on-stuck': { exit: 'on-stuck' },
  'on-max_visits': { exit: 'on-max-visits' },
  match: { exit: 'match' },
  unless: { exit: 'unless' },
  gate: { exit: 'gate' },
  judge: { exit: 'judge' },
  override: { exit: 'match' },
  model: { extra: 'preference' },
  repeatable: { extra: 'repeatable', runs: 'script' },
  transient: { extra: 'retry' },
  'usage-limit': { extra: 'usage-limit' },
  'session-lost': { extra: 'lost' },
  pause: { extra: 'pause' },
  'retried-failure': { extra: 'refuse' },
  'denied-tool': { extra: 'deny' },
  message: { extra: 'say' },
  interrupt: { extra: 'interrupt' },
  budget: { extra: 'budget' },
  'slow-at': { extra: 'quota-full' },
  reserve: { extra: 'quota-full' },
  'no-wait': { extra: 'usage-limit' },
  resume: { extra: 'pause' },
  'failed-end': { end: 'fail' },
  'limited-end': { end: 'limited' },
};

/** Features that only workers have. */
const OF_WORKERS: ReadonlySet<Feature> = new Set([
  'worker',
  'inherited-task',
  'cancelled-end',
  'worktree',
  'kept-worktree',
]);

/** A plan in which two features meet, and with them others that lack company. */
export function directedPlan(pair: Pair, attempt: number, pairs: PairTable): Plan {
  const company = FEATURES.filter((each) => pair.some((one) => pairs.isMissing([one, each]))).slice(0, 4);
  const features = [...new Set([...pair, ...(attempt === 1 ? company : [])])];
  const own = wayOf(features.filter((each) => RECIPES[each] !== undefined));
  const isForWorkers = features.some((each) => OF_WORKERS.has(each));
  const isCancelled = features.includes('cancelled-end');
  const inner: WayPlan = isCancelled ? { ...own, end: 'hang' } : own;
  const canceller: StepPlan = {
    ...STEP,
    exit: 'join-cancel',
    inner: { ...END, steps: [{ ...STEP, exit: 'ask-late' }] },
  };
  // A run is only tried again where it ends as failed: then nothing else may be left to do.
  const pause: readonly StepPlan[] = features.includes('retried-failure') ? [{ ...STEP, extras: ['refuse'] }] : [];
  const isInWorktree = features.includes('worktree') || features.includes('kept-worktree');
  const worker: StepPlan = { ...STEP, exit: isInWorktree ? 'fork-worktree' : 'fork-goto', inner };
  const main: WayPlan = isForWorkers
    ? {
        ...END,
        steps: isCancelled
          ? [worker, ...pause, canceller]
          : pause.length > 0
            ? [worker]
            : [worker, { ...STEP, exit: 'join' }],
      }
    : own;
  return {
    main,
    input: features.includes('run-input') ? 'first' : null,
    hasVars: features.includes('vars'),
    parallel: 8,
    // A worker has to be the one that may not enter its state.
    maxIterations: features.includes('max_iterations')
      ? Math.max(1, (isForWorkers ? 1 : main.steps.length) + attempt - 1)
      : null,
    crashes: features.includes('crash') ? [{ at: 'saved', nth: 2 + attempt }] : [],
    stops: [
      ...(features.includes('stop') ? [{ at: 'saved', nth: 3 + attempt, how: 'stop' } as const] : []),
      ...(features.includes('kill')
        ? [{ at: 'take', nth: (isForWorkers ? 1 : 0) + attempt, how: 'kill' } as const]
        : []),
    ],
    slowAt: features.includes('slow-at') ? 50 : null,
    reserve: features.includes('reserve') ? 20 : null,
    waits: !features.includes('no-wait'),
    usesWorkspace: features.includes('workspace'),
  };
}

const END: WayPlan = { steps: [], end: 'result', endExtras: [], endsInScript: false };
const STEP: StepPlan = {
  runs: 'prompt',
  exit: 'goto',
  extras: [],
  hasPolicy: false,
  cost: 1,
  form: 'folder',
  inner: null,
};

/** A way on which these features are met one after the other; it begins with a prompt, so that there is a conversation. */
function wayOf(features: readonly Feature[]): WayPlan {
  const steps: StepPlan[] = [STEP];
  let way = END;
  for (const feature of features) {
    const { exit, extra, end, runs, form, hasPolicy, innerEnd } = RECIPES[feature] ?? {};
    if (end !== undefined) {
      way = { ...way, end };
      continue;
    }
    steps.push({
      ...STEP,
      exit: exit ?? 'goto',
      extras: extra === undefined ? [] : [extra],
      runs: runs ?? 'prompt',
      form: form ?? 'folder',
      hasPolicy: hasPolicy ?? false,
      inner: { ...END, end: innerEnd ?? 'result' },
    });
  }
  return { ...way, steps };
}
