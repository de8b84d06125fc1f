import { existsSync } from 'node:fs';
import { turnRefOf } from '../../core/due.ts';
import type { Event, TurnEnded, TurnStarted } from '../../core/event.ts';
import { formatJson } from '../../core/json.ts';
import { isPrompt } from '../../core/state-names.ts';
import type { AgentLabels } from '../../events/agent-labels.ts';
import { createEventDocument } from '../../events/event-document.ts';
import { EventRenderer, type LogLine } from '../../events/event-renderer.ts';
import type { LogWriter } from '../../events/log-writer.ts';
import { type LogEntry, TurnRenderer } from '../../events/turn-renderer.ts';
import { followLines, readLines } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
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

/** The files of turns, and the signal that ends the log. */
export interface TurnLogSource {
  readonly folderOf: (turn: TurnStarted) => Promise<string>;
  /** The folder of a turn whose end is not known. */
  readonly openFolderOf: (turn: TurnStarted) => Promise<string>;
  /** The folder of a turn that runs, as soon as it can be followed, or `until` settles. */
  readonly liveFolderOf: (turn: TurnStarted, until: Promise<unknown>) => Promise<string>;
  readonly displayPath: (path: string) => string;
  readonly signal: AbortSignal;
}

/** Creates a renderer that writes text for people. */
export function createTextRenderer(
  { folderOf, openFolderOf, liveFolderOf, displayPath, signal }: TurnLogSource,
  logWriter: LogWriter,
  labels: AgentLabels,
): LogRenderer {
  const eventRenderer = new EventRenderer(labels);
  const writeAll = (lines: readonly LogLine[]): void => {
    for (const line of lines) logWriter.writeLine(line);
  };
  const turnLogOf = async (turn: TurnStarted, end: TurnEnded | null): Promise<TurnLog> => {
    const { state } = turnRefOf(turn);
    const folder = await (end === null ? openFolderOf : folderOf)(turn);
    return { folder, state, failed: end?.failure != null, displayPath };
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
      const turnLog = await turnLogOf(turn, end);
      const renderEntry = startTurn(turn);
      if (!existsSync(turnLog.folder)) writeAll(eventRenderer.renderMissingFiles(turn.agent));
      for await (const entry of readLogEntries(turnLog)) {
        if (signal.aborted) return;
        renderEntry(entry);
      }
    },
    async renderLiveTurn(turn, end) {
      const renderEntry = startTurn(turn);
      const { state } = turnRefOf(turn);
      const folder = await liveFolderOf(turn, end);
      await followLogEntries({ folder, state, failed: false, displayPath }, end, renderEntry);
      for await (const entry of readFailureStderr(await turnLogOf(turn, await end))) renderEntry(entry);
    },
    renderMessage(text) {
      writeAll([...eventRenderer.flushEndedTurn(), { agent: null, indent: 0, text, heading: true }]);
    },
  };
}

/** The files in the folder of a turn with its raw output. */
export function rawOutputFiles(folder: string, state: string): readonly string[] {
  const { stdout, stderr } = turnFiles(folder);
  return isPrompt(state) ? [stdout] : [stdout, stderr];
}

/** As much as fits into one string, with room to spare. */
const MAX_RAW_LINE_BYTES = 256 * 1024 * 1024;

/** Creates a renderer that writes only the output of turns, line by line. */
export function createRawRenderer(
  { folderOf, openFolderOf, liveFolderOf, signal }: TurnLogSource,
  write: (line: string) => void,
  writeMessage: (text: string) => void,
): LogRenderer {
  return {
    renderEvent: () => {},
    async renderTurn(turn, end) {
      const folder = await (end === null ? openFolderOf : folderOf)(turn);
      for (const file of rawOutputFiles(folder, turnRefOf(turn).state)) {
        for await (const line of readLines(file, MAX_RAW_LINE_BYTES)) {
          if (signal.aborted) return;
          write(line.toString('utf8'));
        }
      }
    },
    async renderLiveTurn(turn, until) {
      const writeLine = (line: Buffer): void => write(line.toString('utf8'));
      const files = rawOutputFiles(await liveFolderOf(turn, until), turnRefOf(turn).state);
      await Promise.all(files.map((file) => followLines(file, writeLine, { until })));
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
