import { createHash } from 'node:crypto';
import type { ClaudeTurn } from '../../core/turns/due.ts';
import type { Choices } from '../../language/choices.ts';
import { type Decision, type Grants, isGranted, type PermissionRequest } from '../../language/permission.ts';
import type { TurnContext } from '../turn-context.ts';
import type { ClaudeEvent, PermissionRequestEvent } from './event.ts';

/** The tool with which Claude asks the user. */
const QUESTION_TOOL = 'AskUserQuestion';
/** The tool with which Claude shows its plan. */
const PLAN_TOOL = 'ExitPlanMode';

interface WaitingCall {
  readonly event: PermissionRequestEvent;
  readonly ask: string;
  /** True once the answer was written. */
  isAnswered: boolean;
}

/**
 * The tools of one turn that wait for decisions. Each is put on record, and written to Claude Code once its decision is; what a
 * person has granted, or decided about the same call before, is answered at once.
 */
export class TurnPermissions {
  private readonly context: TurnContext;
  private readonly turn: ClaudeTurn;
  private readonly timeoutMs: number | null;
  private readonly calls = new Map<string, WaitingCall>();
  private readonly told: Set<string>;
  private readonly parking = new AbortController();
  private count = 0;
  private write: ((line: string) => boolean) | null = null;
  private parkTimer: NodeJS.Timeout | undefined;
  private hasApprovedPlan = false;

  constructor(context: TurnContext, turn: ClaudeTurn, timeoutMs: number | null) {
    this.context = context;
    this.turn = turn;
    this.timeoutMs = timeoutMs;
    this.told = new Set(turn.permissions.filter(({ state }) => state.kind === 'decided').map(({ id }) => id));
  }

  /** Aborted when the process is not to wait any longer. */
  get parked(): AbortSignal {
    return this.parking.signal;
  }

  /** True while the process waits for a person: its silence says nothing. */
  get isWaiting(): boolean {
    return [...this.calls.values()].some(({ isAnswered }) => !isAnswered);
  }

  /** True if the process may do more than its command says, so that no other turn may use it. */
  get isWidened(): boolean {
    return this.hasApprovedPlan;
  }

  /** Takes the way to the process. */
  connect(write: (line: string) => boolean): void {
    this.write = write;
    for (const { id, turn, state } of this.turn.permissions)
      if (state.kind === 'answered' && turn === this.turn.number) this.decide(id, state.decision);
  }

  /** Takes the next event of the turn. */
  receive(event: ClaudeEvent, grants: Grants): void {
    if (event.kind === 'permission_request') this.take(event, grants);
    if (event.kind === 'permission_receipt') this.close(event.id, 'delivered');
    if (event.kind === 'permission_cancelled') this.close(event.id, 'cancelled');
    if (event.kind === 'tool_results')
      for (const { id } of event.results)
        for (const [request, call] of this.calls) if (call.event.call === id) this.close(request, 'delivered');
  }

  /** Writes a decision that is on record. */
  decide(ask: string, decision: Decision): void {
    const call = [...this.calls.values()].find((each) => each.ask === ask);
    if (call === undefined || !this.answer(call.event, decision)) return;
    call.isAnswered = true;
    this.keepWaiting();
  }

  /** Ends the process, unless it goes on by itself within a moment. */
  park(delayMs = PARK_DELAY_MS): void {
    clearTimeout(this.parkTimer);
    this.parkTimer = setTimeout(() => this.isWaiting && this.parking.abort(), delayMs).unref();
  }

  /** Forgets the time after which the process would be parked. */
  end(): void {
    clearTimeout(this.parkTimer);
  }

  private take(event: PermissionRequestEvent, grants: Grants): void {
    this.count += 1;
    const request = toRequest(event);
    const before = this.turn.permissions.find(
      ({ id, state, question }) => this.told.has(id) && state.kind === 'decided' && isSameCall(question.permission, request),
    );
    if (before?.state.kind === 'decided') {
      this.told.delete(before.id);
      this.answer(event, before.state.decision);
      this.context.permissions.close(this.turn, before.id, 'delivered');
      return;
    }
    if (isGranted(grants, request)) {
      this.answer(event, { kind: 'always', text: '' });
      return;
    }
    const ask = `${this.turn.agent}-${this.turn.number}.${this.count}`;
    this.calls.set(event.id, { event, ask, isAnswered: false });
    const known = this.turn.permissions.find(({ id }) => id === ask)?.state;
    if (known?.kind === 'answered') this.decide(ask, known.decision);
    this.context.permissions.ask(this.turn, {
      number: this.count,
      request,
      text: describeRequest(event),
      choices: readQuestionChoices(event),
      timeoutMs: this.timeoutMs,
    });
    this.keepWaiting();
  }

  private close(id: string, outcome: 'delivered' | 'cancelled'): void {
    const call = this.calls.get(id);
    if (call === undefined) return;
    this.calls.delete(id);
    this.context.permissions.close(this.turn, call.ask, outcome);
    this.keepWaiting();
  }

  /** A process that waits is kept as long as one without a turn. */
  private keepWaiting(): void {
    clearTimeout(this.parkTimer);
    if (this.isWaiting) this.park(Math.max(PARK_DELAY_MS, Math.min(this.context.options.keepOpenMs ?? 0, 2 ** 31 - 1)));
  }

  private answer(event: PermissionRequestEvent, decision: Decision): boolean {
    if (event.tool === PLAN_TOOL && decision.kind !== 'deny') this.hasApprovedPlan = true;
    return this.write?.(decisionLine(event, decision)) ?? false;
  }
}

/** Parallel calls of one message come one after the other, and others may still be at work. */
const PARK_DELAY_MS = 1_000;

const isSameCall = (one: PermissionRequest, other: PermissionRequest): boolean => one.digest === other.digest;

const MAX_TEXT_CHARS = 4_000;
const DENIED = 'A person has not permitted this.';

/** The call as people see it, and as it is kept. */
function toRequest({ id, tool, input, call, reason, suggestions }: PermissionRequestEvent): PermissionRequest {
  const allowed = suggestions.filter(({ type, behavior }) => type === 'addRules' && behavior === 'allow');
  const folders = suggestions.filter(({ type }) => type === 'addDirectories');
  return {
    tool,
    input: JSON.stringify(shorten(input)),
    digest: createHash('sha256').update(JSON.stringify([tool, input])).digest('hex'),
    reason,
    rules: allowed.flatMap(({ rules }) =>
      rules.map(({ toolName, ruleContent }) => (ruleContent === null ? toolName : `${toolName}(${ruleContent})`)),
    ),
    folders: folders.flatMap(({ directories }) => directories),
    form: tool === QUESTION_TOOL ? 'question' : tool === PLAN_TOOL ? 'plan' : 'tool',
    call,
    request: id,
  };
}

/** The arguments with long texts cut, and with only the first of long lists. */
function shorten(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length <= MAX_TEXT_CHARS
      ? value
      : `${value.slice(0, MAX_TEXT_CHARS)}… (${value.length - MAX_TEXT_CHARS} more characters)`;
  if (Array.isArray(value)) return value.slice(0, 20).map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 20)
      .map(([key, each]) => [key.slice(0, 100), shorten(each)]),
  );
}

/** The text of the question for people: the command, the change or the plan, and why it is not permitted. */
function describeRequest({ tool, input, reason }: PermissionRequestEvent): string {
  if (tool === QUESTION_TOOL) {
    return questionsOf(input)
      .map(({ question, options }) => [question, ...options.map(({ label, description }) => `- ${label}: ${description}`)])
      .flat()
      .join('\n');
  }
  const short = shorten(input) as Readonly<Record<string, unknown>>;
  if (tool === PLAN_TOOL) return `May it carry out this plan?\n${typeof short.plan === 'string' ? short.plan : ''}`;
  const { command, file_path: file, old_string: before, new_string: after, content } = short;
  const lines = (sign: string, text: unknown): readonly string[] =>
    typeof text === 'string' ? text.split('\n').map((line) => `${sign} ${line}`) : [];
  const body =
    typeof command === 'string'
      ? [command]
      : typeof file === 'string'
        ? [file, ...lines('-', before), ...lines('+', after ?? content)]
        : [JSON.stringify(short)];
  return [`May it use ${tool}?${reason === null ? '' : ` ${reason}.`}`, ...body].join('\n');
}

interface AgentQuestion {
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly multiSelect: boolean;
}

/** The questions in the arguments of `AskUserQuestion`; whatever is not as expected is left out. */
function questionsOf(input: Readonly<Record<string, unknown>>): readonly AgentQuestion[] {
  const list = Array.isArray(input.questions) ? (input.questions as readonly unknown[]) : [];
  return list.flatMap((each): readonly AgentQuestion[] => {
    if (typeof each !== 'object' || each === null || !('question' in each)) return [];
    const options = 'options' in each && Array.isArray(each.options) ? (each.options as readonly unknown[]) : [];
    return [
      {
        question: String(each.question),
        options: options.flatMap((option) =>
          typeof option === 'object' && option !== null && 'label' in option
            ? [{ label: String(option.label), description: 'description' in option ? String(option.description) : '' }]
            : [],
        ),
        multiSelect: 'multiSelect' in each && each.multiSelect === true,
      },
    ];
  });
}

/** The answers that a single question of the agent offers; null for several questions, whose answers are lines. */
function readQuestionChoices({ tool, input }: PermissionRequestEvent): Choices | null {
  const [only, second] = tool === QUESTION_TOOL ? questionsOf(input) : [];
  if (only === undefined || second !== undefined || only.options.length < 2) return null;
  return { labels: only.options.slice(0, 9).map(({ label }) => label), other: true, many: only.multiSelect };
}

/** The line that tells Claude Code a decision. Permissions hold for this process only: nothing is written to settings. */
function decisionLine({ id, tool, input, suggestions }: PermissionRequestEvent, { kind, text }: Decision): string {
  const respond = (response: object): string =>
    JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
  if (kind === 'deny') return respond({ behavior: 'deny', message: text === '' ? DENIED : text });
  if (tool === QUESTION_TOOL) {
    const questions = questionsOf(input);
    const lines = questions.length > 1 ? text.split('\n') : [text.split('\n').join(', ')];
    const answers = Object.fromEntries(questions.map(({ question }, at) => [question, lines[at] ?? '']));
    return respond({ behavior: 'allow', updatedInput: { ...input, answers } });
  }
  const session = suggestions
    .filter(({ type, behavior }) => (type === 'addRules' && behavior === 'allow') || type === 'addDirectories')
    .map((each) => ({ ...each, destination: 'session' }));
  const updates =
    tool === PLAN_TOOL
      ? [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }]
      : kind === 'always'
        ? session
        : [];
  return respond({
    behavior: 'allow',
    updatedInput: input,
    ...(updates.length > 0 && { updatedPermissions: updates }),
  });
}
