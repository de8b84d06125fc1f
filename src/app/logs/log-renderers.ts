import type { Event, TurnEnded, TurnStarted } from '../../core/run/event.ts';
import { createEventDocument } from '../../documents/event-document.ts';
import { isPrompt } from '../../language/state-names.ts';
import { formatJson } from '../../language/text/json.ts';
import { splitChunks } from '../../process/lines.ts';
import type { AgentLabels } from '../../render/agent-labels.ts';
import { EventRenderer, type LogLine } from '../../render/event-renderer.ts';
import type { LogWriter } from '../../render/log-writer.ts';
import { type LogEntry, TurnRenderer } from '../../render/turn-renderer.ts';
import type { TurnStream } from '../../storage/storage.ts';
import { followLogEntries, readFailureStderr, readLogEntries, type TurnLog } from './turn-log-entries.ts';

/** Writes the log of a run in some format. */
export interface LogRenderer {
  /** Set if it writes only events, also the start of a turn, and not what is in the turns' files. */
  readonly eventsOnly?: true;
  /** Writes an event other than the start of a turn. */
  renderEvent(event: Event): void;
  /** Writes a turn from its files; `end` is null if it is not known. */
  renderTurn(turn: TurnStarted, end: TurnEnded | null): Promise<void>;
  /** Writes a running turn until its end is known. */
  renderLiveTurn(turn: TurnStarted, end: Promise<TurnEnded | null>): Promise<void>;
  /** Writes a message of the log itself. */
  renderMessage(text: string): void;
}

/** The output of turns, and the signal that ends the log. */
export interface TurnLogSource {
  readonly logOf: (turn: TurnStarted, failed: boolean) => TurnLog;
  /** True if something of the output of a turn is kept. */
  readonly hasOutput: (turn: TurnStarted) => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** Creates a renderer that writes text for people. */
export function createTextRenderer(
  { logOf, hasOutput, signal }: TurnLogSource,
  logWriter: LogWriter,
  labels: AgentLabels,
): LogRenderer {
  const eventRenderer = new EventRenderer(labels);
  const writeAll = (lines: readonly LogLine[]): void => {
    for (const line of lines) logWriter.writeLine(line);
  };
  const startTurn = (turn: TurnStarted): ((entry: LogEntry) => void) => {
    const turnRenderer = new TurnRenderer();
    writeAll([...eventRenderer.flushEndedTurn(), eventRenderer.renderHeading(turn)]);
    return (entry) => writeAll(turnRenderer.render(entry).map((line) => ({ agent: turn.agent, ...line })));
  };
  return {
    renderEvent(event) {
      writeAll(eventRenderer.render(event));
    },
    async renderTurn(turn, end) {
      const renderEntry = startTurn(turn);
      let isEmpty = true;
      for await (const entry of readLogEntries(logOf(turn, end?.failure != null))) {
        if (signal.aborted) return;
        isEmpty = false;
        renderEntry(entry);
      }
      if (isEmpty && !(await hasOutput(turn))) writeAll(eventRenderer.renderMissingFiles(turn.agent));
    },
    async renderLiveTurn(turn, end) {
      const renderEntry = startTurn(turn);
      await followLogEntries(logOf(turn, false), end, renderEntry);
      for await (const entry of readFailureStderr(logOf(turn, (await end)?.failure != null))) renderEntry(entry);
    },
    renderMessage(text) {
      writeAll([...eventRenderer.flushEndedTurn(), { agent: null, indent: 0, text, heading: true }]);
    },
  };
}

/** The streams with the raw output of a turn. */
export const rawStreams = (state: string): readonly TurnStream[] =>
  isPrompt(state) ? ['stdout'] : ['stdout', 'stderr'];

/** As much as fits into one string, with room to spare. */
const MAX_RAW_LINE_BYTES = 256 * 1024 * 1024;

/** Creates a renderer that writes only the output of turns, line by line. */
export function createRawRenderer(
  { logOf, signal }: TurnLogSource,
  write: (line: string) => void,
  writeMessage: (text: string) => void,
): LogRenderer {
  return {
    renderEvent: () => {},
    async renderTurn(turn) {
      const { state, read } = logOf(turn, false);
      for (const stream of rawStreams(state)) {
        for await (const line of splitChunks(read(stream), MAX_RAW_LINE_BYTES)) {
          if (signal.aborted) return;
          write(line.toString('utf8'));
        }
      }
    },
    async renderLiveTurn(turn, until) {
      const { state, read } = logOf(turn, false);
      const follow = async (stream: TurnStream): Promise<void> => {
        for await (const line of splitChunks(read(stream, until))) write(line.toString('utf8'));
      };
      await Promise.all(rawStreams(state).map(follow));
    },
    renderMessage: writeMessage,
  };
}

/** Creates a renderer that writes every event as a line of JSON, as `--events` does. */
export function createJsonRenderer(write: (line: string) => void, writeMessage: (text: string) => void): LogRenderer {
  return {
    eventsOnly: true,
    renderEvent: (event) => write(formatJson(createEventDocument(event))),
    renderTurn: async () => {},
    renderLiveTurn: async () => {},
    renderMessage: writeMessage,
  };
}
