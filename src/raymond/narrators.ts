import { existsSync } from 'node:fs';
import type { Event, TurnEnded, TurnStarted } from '../core/event.ts';
import { isPrompt } from '../core/names.ts';
import type { Page } from '../observers/page.ts';
import { type Passage, Tale } from '../observers/passage.ts';
import { Story, type Told } from '../observers/story.ts';
import { followLines, readLines } from '../process/lines.ts';
import { turnFiles } from '../process/turn-files.ts';
import { asideOf, followPassages, passagesOf, type TurnTrace } from './turn-passages.ts';

/** Somebody who tells a run to the end, in whatever words. */
export interface Narrator {
  /** An event that is no turn's beginning. */
  happened(event: Event): void;
  /** A turn as far as it has come; null if its end is not known. */
  whole(turn: TurnStarted, end: TurnEnded | null): Promise<void>;
  /** A turn that is under way, until its end is known. */
  live(turn: TurnStarted, end: Promise<TurnEnded | null>): Promise<void>;
  /** A word of our own. */
  remark(text: string): void;
}

/** Where a narrator finds the files of a turn, and when to be silent. */
export interface Sources {
  readonly folderOf: (turn: TurnStarted) => string;
  readonly shown: (path: string) => string;
  readonly enough: AbortSignal;
}

/** Tells the story of a run to people. */
export function storyteller({ folderOf, shown, enough }: Sources, page: Page): Narrator {
  const story = new Story();
  const putAll = (lines: readonly Told[]): void => {
    for (const line of lines) page.put(line);
  };
  const traceOf = (turn: TurnStarted, end: TurnEnded | null): TurnTrace => {
    const { state } = turn;
    return { folder: folderOf(turn), state, failed: end?.failure != null, shown };
  };
  const begin = (turn: TurnStarted): ((passage: Passage) => void) => {
    const tale = new Tale();
    putAll([...story.endOfTurn(), story.heading(turn)]);
    return (passage) => putAll(tale.tell(passage).map((line) => ({ agent: turn.agent, ...line })));
  };
  return {
    happened(event) {
      putAll(story.about(event));
    },
    async whole(turn, end) {
      const trace = traceOf(turn, end);
      const tell = begin(turn);
      if (!existsSync(trace.folder)) putAll(story.unheardOf(turn.agent));
      for await (const passage of passagesOf(trace)) {
        if (enough.aborted) return;
        tell(passage);
      }
    },
    async live(turn, end) {
      const tell = begin(turn);
      await followPassages(traceOf(turn, null), end, tell);
      for await (const passage of asideOf(traceOf(turn, await end))) tell(passage);
    },
    remark(text) {
      putAll([...story.endOfTurn(), { agent: null, indent: 0, text, heading: true }]);
    },
  };
}

/** Repeats what turns have put out, line by line, and says nothing else. */
export function parrot(
  { folderOf, enough }: Sources,
  write: (line: string) => void,
  aside: (text: string) => void,
): Narrator {
  const filesOf = (turn: TurnStarted): readonly string[] => {
    const { stdout, stderr } = turnFiles(folderOf(turn));
    return isPrompt(turn.state) ? [stdout] : [stdout, stderr];
  };
  return {
    happened: () => {},
    async whole(turn) {
      for (const file of filesOf(turn)) {
        for await (const line of readLines(file)) {
          if (enough.aborted) return;
          write(line.toString('utf8'));
        }
      }
    },
    async live(turn, until) {
      const repeat = (line: Buffer): void => write(line.toString('utf8'));
      await Promise.all(filesOf(turn).map((file) => followLines(file, repeat, { until })));
    },
    remark: aside,
  };
}
