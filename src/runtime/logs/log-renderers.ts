import { existsSync } from 'node:fs';
import type { Event, TurnEnded, TurnStarted } from '../../core/event.ts';
import { isPrompt } from '../../core/state-names.ts';
import { EventRenderer, type LogLine } from '../../events/event-renderer.ts';
import type { LogWriter } from '../../events/log-writer.ts';
import { type LogEntry, TurnRenderer } from '../../events/turn-renderer.ts';
import { followLines, readLines } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { followLogEntries, readFailureStderr, readLogEntries, type TurnLog } from './turn-log-entries.ts';

/** Somebody who tells a run to the end, in whatever words. */
export interface LogRenderer {
  /** An event that is no turn's beginning. */
  renderEvent(event: Event): void;
  /** A turn as far as it has come; null if its end is not known. */
  renderTurn(turn: TurnStarted, end: TurnEnded | null): Promise<void>;
  /** A turn that is under way, until its end is known. */
  renderLiveTurn(turn: TurnStarted, end: Promise<TurnEnded | null>): Promise<void>;
  /** A word of our own. */
  renderMessage(text: string): void;
}

/** Where a narrator finds the files of a turn, and when to be silent. */
export interface TurnLogSource {
  readonly folderOf: (turn: TurnStarted) => string;
  readonly displayPath: (path: string) => string;
  readonly signal: AbortSignal;
}

/** Tells the story of a run to people. */
export function createTextRenderer({ folderOf, displayPath, signal }: TurnLogSource, page: LogWriter): LogRenderer {
  const eventRenderer = new EventRenderer();
  const writeAll = (lines: readonly LogLine[]): void => {
    for (const line of lines) page.writeLine(line);
  };
  const turnLogOf = (turn: TurnStarted, end: TurnEnded | null): TurnLog => {
    const { state } = turn;
    return { folder: folderOf(turn), state, failed: end?.failure != null, displayPath };
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
      const turnLog = turnLogOf(turn, end);
      const renderEntry = startTurn(turn);
      if (!existsSync(turnLog.folder)) writeAll(eventRenderer.renderMissingFiles(turn.agent));
      for await (const entry of readLogEntries(turnLog)) {
        if (signal.aborted) return;
        renderEntry(entry);
      }
    },
    async renderLiveTurn(turn, end) {
      const renderEntry = startTurn(turn);
      await followLogEntries(turnLogOf(turn, null), end, renderEntry);
      for await (const entry of readFailureStderr(turnLogOf(turn, await end))) renderEntry(entry);
    },
    renderMessage(text) {
      writeAll([...eventRenderer.flushEndedTurn(), { agent: null, indent: 0, text, heading: true }]);
    },
  };
}

/** Repeats what turns have put out, line by line, and says nothing else. */
export function createRawRenderer(
  { folderOf, signal }: TurnLogSource,
  write: (line: string) => void,
  writeMessage: (text: string) => void,
): LogRenderer {
  const outputFilesOf = (turn: TurnStarted): readonly string[] => {
    const { stdout, stderr } = turnFiles(folderOf(turn));
    return isPrompt(turn.state) ? [stdout] : [stdout, stderr];
  };
  return {
    renderEvent: () => {},
    async renderTurn(turn) {
      for (const file of outputFilesOf(turn)) {
        for await (const line of readLines(file)) {
          if (signal.aborted) return;
          write(line.toString('utf8'));
        }
      }
    },
    async renderLiveTurn(turn, until) {
      const writeLine = (line: Buffer): void => write(line.toString('utf8'));
      await Promise.all(outputFilesOf(turn).map((file) => followLines(file, writeLine, { until })));
    },
    renderMessage: writeMessage,
  };
}
