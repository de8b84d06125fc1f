import { stem } from '../core/names.ts';
import type { Tag } from '../core/tag.ts';
import type { TagName } from '../core/transitions/index.ts';
import { placesIn } from './place.ts';
import { explainedIn } from './placeholders.ts';
import { type PromptReading, readPromptTags } from './prompt.ts';
import { readScript, type ScriptReading, type SureMention } from './script.ts';
import type { Place, Sheet, StateSheet } from './sheet.ts';

/** A tag in a state's file. */
export interface PlacedTag {
  readonly name: TagName;
  readonly tag: Tag;
  readonly at: Place;
  /** Whether it is there to be said; a script may also only know of a tag, and a prompt only speak of it. */
  readonly sure: boolean;
  /** Whether a script makes it out of the values of its variables. */
  readonly filled?: boolean;
}

/** A tag in a state's file that is opened and never closed. */
export interface PlacedHalf {
  readonly name: TagName;
  readonly after: string;
  readonly at: Place;
  readonly sure: boolean;
}

/** A tag that a prompt shows in code while others stand outside of it. */
export interface PlacedQuote extends PlacedTag {
  readonly fenced: boolean;
}

/** A state's file with everything that was read out of it. */
export interface Page {
  readonly file: string;
  readonly kind: 'prompt' | 'script';
  readonly source: StateSheet;
  readonly tags: readonly PlacedTag[];
  /** The same tags as they will be said: with the values of variables that stand in a script, one for each alternative. */
  readonly forms: readonly PlacedTag[];
  readonly halves: readonly PlacedHalf[];
  readonly quoted: readonly PlacedQuote[];
  /** Whether a prompt explains that a word stands for names of states. */
  readonly explains: (word: string) => boolean;
  /** The ways through a shell script, if they can be told. */
  readonly ways: ScriptReading['ways'];
  /** Whether it may take ways that its file does not show. */
  readonly open: boolean;
  /** Whether what its frontmatter says is not all known. */
  readonly broken: boolean;
  /** The place of an offset of `source.state.text`. */
  place(offset: number): Place;
}

/** Reads the states of a workflow, each by itself. */
export function readPages(sheet: Sheet): readonly Page[] {
  const names = new Set(sheet.files.flatMap(({ file }) => [file, stem(file)].map((name) => name.toLowerCase())));
  const isState = (name: string): boolean => names.has(name.trim().toLowerCase());
  return sheet.files.flatMap((file) => (file.kind === 'state' ? readPage(file, isState) : []));
}

function readPage(source: StateSheet, isState: (name: string) => boolean): Page {
  const { file, state, text, findings } = source;
  const places = placesIn(text);
  const place = (offset: number): Place => places(text.length - state.text.length + offset);
  const placed = <T extends SureMention>({ offset, ...rest }: T) => ({ ...rest, at: place(offset) });
  const broken = findings.some(({ severity }) => severity === 'error');
  const isScript = state.kind === 'script';
  const reading = isScript
    ? ofScript(readScript(file, state.text))
    : ofPrompt(readPromptTags(state.text, state.rules.policy, isState));
  return {
    file,
    kind: state.kind,
    source,
    tags: reading.tags.map(placed),
    forms: reading.forms.map(placed),
    halves: reading.halves.map(({ name, after, offset, sure }) => ({ name, after, sure, at: place(offset) })),
    quoted: reading.quoted.map((tag) => placed({ ...tag, sure: false })),
    explains: isScript ? () => false : explainedIn(state.text),
    ways: reading.ways,
    open: reading.open || broken,
    broken,
    place,
  };
}

const ofScript = (reading: ScriptReading) => ({ ...reading, quoted: [] });
const ofPrompt = (reading: PromptReading) => ({ ...reading, ways: undefined, open: false });
