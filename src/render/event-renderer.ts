import { DEFAULT_OPTIONS, type Options } from '../core/options/options.ts';
import type { SessionUse } from '../core/run/agent.ts';
import type { AgentStarted, Event, TurnEnded, TurnStarted } from '../core/run/event.ts';
import { AgentLabels, formatAgentLabel } from './agent-labels.ts';
import { formatElapsed, formatEvent, formatLocalTime, formatTimeOfDay, listTurnSpending } from './format.ts';
import { formatChangedFlags } from './option-flags.ts';
import { sanitize, sanitizeLine, sanitizeShortLine } from './sanitize.ts';
import type { TextStyle } from './text-style.ts';
import type { StyledLine } from './turn-renderer.ts';

/** A line of `raymond logs`: about one agent, or about the whole run if `agent` is null. */
export interface LogLine extends StyledLine {
  readonly agent: string | null;
  /** True if it begins a turn, or a run. */
  readonly heading?: boolean;
}

const MAX_RESULT_LINES = 20;
const MAX_INPUT_CHARS = 200;

/** Renders the events of a run as log lines, one after the other. `TurnRenderer` renders what turns said and printed. */
export class EventRenderer {
  private readonly labels: AgentLabels;
  private options: Options = DEFAULT_OPTIONS;
  private lastHeadingAt: number | null = null;
  /** The latest turn, held back until its outcome is known: a transition says more than its duration and cost. */
  private endedTurn: TurnEnded | null = null;
  /** How long each agent's turns have taken since it entered its state. */
  private readonly workedMsByAgent = new Map<string, number>();
  /** The agents whose last turn has no files, and those whose last turn was a script with its output shown. */
  private readonly agentsWithoutFiles = new Set<string>();
  private readonly agentsWithShownScript = new Set<string>();

  constructor(labels = new AgentLabels()) {
    this.labels = labels;
  }

  /** The lines for an event. */
  render(event: Event): readonly LogLine[] {
    const before = event.kind === 'transition' && event.agent === this.endedTurn?.agent ? [] : this.flushEndedTurn();
    return [...before, ...this.renderEvent(event)];
  }

  /** The heading of a turn. */
  renderHeading({ at, agent, state, evaluator, turn, prompt, session }: TurnStarted): LogLine {
    const what = evaluator === null ? state : `${evaluator} evaluates ${state}`;
    const kind = prompt === 'state' ? '' : ` (${prompt})`;
    return this.createHeading(
      at,
      `[${this.labels.of(agent)}] ${what}, turn ${turn}${kind}${describeSessionUse(session)}`,
      agent,
    );
  }

  /** Notes that the turn of this agent has no files, so that its results are rendered from events. Explains it once. */
  renderMissingFiles(agent: string): readonly LogLine[] {
    const isFirst = this.agentsWithoutFiles.size === 0;
    this.agentsWithoutFiles.add(agent);
    const why = this.options.debug ? 'its files are gone' : 'with --no-debug no files of turns are kept';
    return isFirst
      ? [{ agent, indent: 1, text: `${why}: prompts, answers and output cannot be shown`, style: 'dim' }]
      : [];
  }

  /** The line of the turn that was held back, if any. */
  flushEndedTurn(): readonly LogLine[] {
    const { endedTurn } = this;
    this.endedTurn = null;
    if (endedTurn === null) return [];
    const { agent, failure, durationMs } = endedTurn;
    const figures = [formatElapsed(durationMs), ...listTurnSpending(endedTurn)].join(', ');
    const how = failure === null ? 'took' : `failed (${failure}) after`;
    return [{ agent, indent: 1, text: `${how} ${figures}`, style: failure === null ? 'dim' : 'red' }];
  }

  private renderEvent(event: Event): readonly LogLine[] {
    switch (event.kind) {
      case 'run_started':
      case 'run_resumed':
        return [
          this.createHeading(event.at, formatEvent(event) ?? '', null),
          ...this.renderChangedOptions(event.options),
        ];
      case 'run_ended':
        return [this.createHeading(event.at, formatEvent(event) ?? '', null)];
      case 'agent_started':
        return renderAgentStart(event);
      case 'turn_ended':
        this.endedTurn = event;
        this.trackScriptOutput(event);
        this.workedMsByAgent.set(event.agent, (this.workedMsByAgent.get(event.agent) ?? 0) + event.durationMs);
        return renderPlain(event, 'yellow');
      case 'transition': {
        const { agent, input, tag, to } = event;
        const workedMs = this.workedMsByAgent.get(agent) ?? 0;
        this.endedTurn = null;
        this.workedMsByAgent.delete(agent);
        const [line, ...rest] = renderPlain(event, 'green');
        // A result is in the answer or output right above.
        const isAlreadyShown =
          to === null || tag === 'ask' || (tag === 'result' && !this.agentsWithoutFiles.has(agent));
        const inputLines = isAlreadyShown ? [] : renderInput(agent, input);
        return line === undefined
          ? []
          : [{ ...line, text: `${line.text}, ${formatElapsed(workedMs)}` }, ...rest, ...inputLines];
      }
      case 'agent_failed':
      case 'agent_paused':
        // Below the first line is the end of the script's output, which has just been shown.
        return renderPlain(event, 'red').slice(0, this.agentsWithShownScript.has(event.agent) ? 1 : undefined);
      case 'printed':
        // It is in the answer or output right above.
        return this.agentsWithoutFiles.has(event.agent) ? renderPlain(event, undefined) : [];
      case 'agent_ended':
        return this.agentsWithoutFiles.has(event.agent) ? renderResult(event.agent, event.result) : [];
      default:
        return renderPlain(event, EVENT_STYLES[event.kind]);
    }
  }

  private trackScriptOutput({ agent, session }: TurnEnded): void {
    if (session === null && !this.agentsWithoutFiles.has(agent)) this.agentsWithShownScript.add(agent);
    else this.agentsWithShownScript.delete(agent);
  }

  private createHeading(at: number, text: string, agent: string | null): LogLine {
    const when = this.lastHeadingAt === null ? formatLocalTime(at) : formatTimeOfDay(at, this.lastHeadingAt);
    this.lastHeadingAt = at;
    return { agent, indent: 0, text: `── ${when} ${sanitizeLine(text)}`, style: 'bold', heading: true };
  }

  private renderChangedOptions(options: Options): readonly LogLine[] {
    const flags = formatChangedFlags(this.options, options);
    this.options = options;
    return flags.length === 0 ? [] : [{ agent: null, indent: 1, text: `options: ${flags.join(' ')}` }];
  }
}

const EVENT_STYLES: Partial<Record<Event['kind'], TextStyle>> = {
  answer_withheld: 'yellow',
  evaluated: 'green',
  asked: 'cyan',
  ask_answered: 'cyan',
  ask_timed_out: 'yellow',
  said: 'cyan',
  said_delivered: 'cyan',
  turn_interrupted: 'yellow',
  reminded: 'yellow',
  run_stopping: 'yellow',
  run_waiting: 'yellow',
  session_lost: 'yellow',
  sleeping: 'yellow',
  visit_limit: 'yellow',
  warning: 'yellow',
};

/** An event as `formatEvent` has it, without the label of its agent: `LogWriter` adds it where it is needed. */
function renderPlain(event: Event, style: TextStyle | undefined): readonly LogLine[] {
  const line = formatEvent(event);
  if (line === null) return [];
  const agent = 'agent' in event ? event.agent : null;
  const label = agent === null ? '' : `[${agent}] `;
  return line.split('\n').map((each) => ({
    agent,
    indent: agent === null ? 0 : 1,
    text: each.startsWith(label) ? each.slice(label.length) : each,
    ...(style !== undefined && { style }),
  }));
}

/** The first agent has no line of its own, but it may have an input. */
function renderAgentStart(event: AgentStarted): readonly LogLine[] {
  const { agent, parent, variables, input } = event;
  const label = formatAgentLabel({ id: agent, variables });
  const pairs = Object.entries(variables)
    .map(([name, value]) => `${name}=${sanitizeShortLine(value, MAX_INPUT_CHARS)}`)
    .filter((pair) => !label.endsWith(` ${pair}`));
  const attributes = pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
  const startLines = renderPlain(event, undefined).map((line) => ({ ...line, text: `${line.text}${attributes}` }));
  return [...startLines, ...renderInput(parent === null ? null : agent, input)];
}

const renderInput = (agent: string | null, input: string | null): readonly LogLine[] =>
  input === null ? [] : [{ agent, indent: 1, text: `input: ${sanitizeShortLine(input, MAX_INPUT_CHARS)}` }];

function renderResult(agent: string, result: string): readonly LogLine[] {
  const lines = sanitize(result).trimEnd().split('\n');
  const rest = lines.length - MAX_RESULT_LINES;
  const shown = rest > 0 ? [...lines.slice(0, MAX_RESULT_LINES), `… ${rest} more lines`] : lines;
  return shown.map((line, index) => ({
    agent,
    indent: 1,
    text: `${index === 0 ? 'result: ' : '  '}${line}`.trimEnd(),
  }));
}

function describeSessionUse(session: SessionUse | null): string {
  if (session === null) return '';
  if (session.kind === 'new') return `, new session ${session.id}`;
  return session.kind === 'resume' ? `, session ${session.id}` : `, session ${session.id}, forked from ${session.from}`;
}
