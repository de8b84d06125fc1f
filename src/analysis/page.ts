import type { Tag } from '../core/tag.ts';
import type { TagName } from '../core/transitions/index.ts';
import { readMentions } from './mentions.ts';
import { placesIn } from './place.ts';
import { readQuoted } from './quoted.ts';
import { readScript, type ScriptReading, type SureMention } from './script.ts';
import type { Place, Sheet, StateSheet } from './sheet.ts';

/** A tag in a state's file. */
export interface PlacedTag {
  readonly name: TagName;
  readonly tag: Tag;
  readonly at: Place;
  /** Whether it is there to be said; a script may also only know of a tag. */
  readonly sure: boolean;
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
  /** The same tags as they will be said, where the values of a script's variables stand in the script. */
  readonly forms: readonly PlacedTag[];
  readonly halves: readonly PlacedHalf[];
  readonly quoted: readonly PlacedQuote[];
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
  return sheet.files.flatMap((file) => (file.kind === 'state' ? readPage(file) : []));
}

function readPage(source: StateSheet): Page {
  const { file, state, text, findings } = source;
  const places = placesIn(text);
  const place = (offset: number): Place => places(text.length - state.text.length + offset);
  const placed = ({ offset, ...rest }: SureMention): PlacedTag => ({ ...rest, at: place(offset) });
  const broken = findings.some(({ severity }) => severity === 'error');
  const reading = state.kind === 'script' ? readScript(file, state.text) : promptReading(state.text);
  const quoted = state.kind === 'script' ? [] : readQuoted(state.text, reading.tags);
  return {
    file,
    kind: state.kind,
    source,
    tags: reading.tags.map(placed),
    forms: reading.forms.map(placed),
    halves: reading.halves.map(({ name, after, offset, sure }) => ({ name, after, sure, at: place(offset) })),
    quoted: quoted.map(({ name, tag, offset, fenced }) => ({ name, tag, fenced, sure: false, at: place(offset) })),
    ways: reading.ways,
    open: reading.open || broken,
    broken,
    place,
  };
}

function promptReading(text: string): ScriptReading {
  const { tags, halves } = readMentions(text);
  const all = tags.map((tag) => ({ ...tag, sure: true }));
  return {
    tags: all,
    forms: all,
    halves: halves.map((half) => ({ ...half, sure: true })),
    ways: undefined,
    open: false,
  };
}
