import type { SessionUse } from '../core/agent.ts';
import type { AgentStarted, Event, TurnEnded, TurnStarted } from '../core/event.ts';
import { DEFAULT_OPTIONS, type Options } from '../core/run.ts';
import { harmless, oneLine } from './harmless.ts';
import type { Ink } from './ink.ts';
import { changedFlags } from './option-flags.ts';
import type { StoryLine } from './passage.ts';
import { dollars, lineOf, localTime, took } from './words.ts';

/** A line about a whole run, or about one of its agents. */
export interface Told extends StoryLine {
  readonly agent: string | null;
  /** Whether something begins with it. */
  readonly heading?: boolean;
}

const MOST_RESULT_LINES = 20;
const LONGEST_INPUT = 200;

/** Tells what happened in a run, event after event. What turns left behind is told between them by others. */
export class Story {
  private options: Options = DEFAULT_OPTIONS;
  private day = '';
  /** A turn that has ended; what came of it is told with it. */
  private over: TurnEnded | null = null;
  /** For how long each agent has been at work since it entered its state. */
  private readonly worked = new Map<string, number>();
  /** Whose last turn could not be told, and whose was a script's that could. */
  private readonly unheard = new Set<string>();
  private readonly printed = new Set<string>();

  /** What there is to tell about an event. */
  about(event: Event): readonly Told[] {
    const before = event.kind === 'transition' && event.agent === this.over?.agent ? [] : this.endOfTurn();
    return [...before, ...this.tell(event)];
  }

  /** What a turn begins with. */
  heading({ at, agent, state, turn, prompt, session }: TurnStarted): Told {
    const kind = prompt === 'state' ? '' : ` (${prompt})`;
    return this.head(at, `[${agent}] ${state}, turn ${turn}${kind}${sessionInWords(session)}`, agent);
  }

  /** The files of this agent's turn are not there: what it hands over is told with the events, and the first time why. */
  unheardOf(agent: string): readonly Told[] {
    const isFirst = this.unheard.size === 0;
    this.unheard.add(agent);
    const why = this.options.debug ? 'its files are gone' : 'with --no-debug no files of turns are kept';
    return isFirst
      ? [{ agent, indent: 1, text: `${why}: what was asked, said and printed is not told`, ink: 'dim' }]
      : [];
  }

  /** What was held back so far. */
  endOfTurn(): readonly Told[] {
    const { over } = this;
    this.over = null;
    if (over === null) return [];
    const { agent, failure, durationMs, costMicros, session } = over;
    const cost = session === null ? '' : `, ${dollars(costMicros)}`;
    const how = failure === null ? 'took' : `failed (${failure}) after`;
    return [{ agent, indent: 1, text: `${how} ${took(durationMs)}${cost}`, ink: failure === null ? 'dim' : 'red' }];
  }

  private tell(event: Event): readonly Told[] {
    switch (event.kind) {
      case 'run_started':
      case 'run_resumed':
        return [this.head(event.at, lineOf(event) ?? '', null), ...this.optionsIn(event.options)];
      case 'run_ended':
        return [this.head(event.at, lineOf(event) ?? '', null)];
      case 'agent_started':
        return birthOf(event);
      case 'turn_ended':
        this.over = event;
        this.notePrinted(event);
        this.worked.set(event.agent, (this.worked.get(event.agent) ?? 0) + event.durationMs);
        return plain(event, 'yellow');
      case 'transition': {
        const { agent, input, tag, to } = event;
        const workedMs = this.worked.get(agent) ?? 0;
        this.over = null;
        this.worked.delete(agent);
        const [line, ...rest] = plain(event, 'green');
        // What somebody says or prints as its result stands right above.
        const isHeard = to === null || (tag === 'result' && !this.unheard.has(agent));
        const handed = isHeard ? [] : inputLine(agent, input);
        return line === undefined ? [] : [{ ...line, text: `${line.text}, ${took(workedMs)}` }, ...rest, ...handed];
      }
      case 'agent_failed':
      case 'agent_paused':
        // Below its first line stands what a script printed last: it has just been told.
        return plain(event, 'red').slice(0, this.printed.has(event.agent) ? 1 : undefined);
      case 'agent_ended':
        return this.unheard.has(event.agent) ? resultOf(event.agent, event.result) : [];
      default:
        return plain(event, INKS[event.kind]);
    }
  }

  private notePrinted({ agent, session }: TurnEnded): void {
    if (session === null && !this.unheard.has(agent)) this.printed.add(agent);
    else this.printed.delete(agent);
  }

  private head(at: number, text: string, agent: string | null): Told {
    const [day = '', time = ''] = localTime(at).split(' ');
    const when = day === this.day ? time : `${day} ${time}`;
    this.day = day;
    return { agent, indent: 0, text: `── ${when} ${oneLine(text)}`, ink: 'bold', heading: true };
  }

  private optionsIn(options: Options): readonly Told[] {
    const flags = changedFlags(this.options, options);
    this.options = options;
    return flags.length === 0 ? [] : [{ agent: null, indent: 1, text: `options: ${flags.join(' ')}` }];
  }
}

const INKS: Partial<Record<Event['kind'], Ink>> = {
  answer_withheld: 'yellow',
  reminded: 'yellow',
  run_stopping: 'yellow',
  session_lost: 'yellow',
  sleeping: 'yellow',
  visit_limit: 'yellow',
  warning: 'yellow',
};

/** An event in the words in which everybody hears of it; who is meant is written by whoever has the page. */
function plain(event: Event, ink: Ink | undefined): readonly Told[] {
  const line = lineOf(event);
  if (line === null) return [];
  const agent = 'agent' in event ? event.agent : null;
  const label = agent === null ? '' : `[${agent}] `;
  return line.split('\n').map((each) => ({
    agent,
    indent: agent === null ? 0 : 1,
    text: each.startsWith(label) ? each.slice(label.length) : each,
    ...(ink !== undefined && { ink }),
  }));
}

/** Whom nobody forked has no words of its own, but it may have been handed something. */
function birthOf(event: AgentStarted): readonly Told[] {
  const { agent, parent, variables, input } = event;
  const pairs = Object.entries(variables).map(([name, value]) => `${name}=${short(value)}`);
  const attributes = pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
  const born = plain(event, undefined).map((line) => ({ ...line, text: `${line.text}${attributes}` }));
  return [...born, ...inputLine(parent === null ? null : agent, input)];
}

const inputLine = (agent: string | null, input: string | null): readonly Told[] =>
  input === null ? [] : [{ agent, indent: 1, text: `input: ${short(input)}` }];

const short = (text: string): string => {
  const line = oneLine(text.slice(0, 10 * LONGEST_INPUT));
  return line.length > LONGEST_INPUT ? `${line.slice(0, LONGEST_INPUT)}…` : line;
};

function resultOf(agent: string, result: string): readonly Told[] {
  const lines = harmless(result).trimEnd().split('\n');
  const rest = lines.length - MOST_RESULT_LINES;
  const shown = rest > 0 ? [...lines.slice(0, MOST_RESULT_LINES), `… ${rest} more lines`] : lines;
  return shown.map((line, index) => ({
    agent,
    indent: 1,
    text: `${index === 0 ? 'result: ' : '  '}${line}`.trimEnd(),
  }));
}

function sessionInWords(session: SessionUse | null): string {
  if (session === null) return '';
  if (session.kind === 'new') return `, new session ${session.id}`;
  return session.kind === 'resume' ? `, session ${session.id}` : `, session ${session.id}, forked from ${session.from}`;
}
