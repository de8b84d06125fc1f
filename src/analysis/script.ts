import { type Half, type Mention, readMentions, UNKNOWN } from './mentions.ts';
import { movesOutput, surelyHeard } from './shell/audience.ts';
import { formsOf } from './shell/forms.ts';
import { parseScript } from './shell/parse.ts';
import { speechOf } from './shell/speech.ts';
import { Values } from './shell/values.ts';
import { linesOf } from './shell/walk.ts';
import { type Ways, waysThrough } from './shell/ways.ts';

/** What a script can print, as far as its text shows it. */
export interface ScriptReading {
  /** The tags that it may print; those that are not `sure` it only knows of. */
  readonly tags: readonly SureMention[];
  /** The same with the values of their variables put in, as far as these stand in the script. */
  readonly forms: readonly SureMention[];
  readonly halves: readonly (Half & { readonly sure: boolean })[];
  /** What it has printed on each of its ways; undefined if they cannot be told. */
  readonly ways: Ways | undefined;
  /** Whether it may print tags that its text does not show. */
  readonly open: boolean;
}

export type SureMention = Mention & { readonly sure: boolean; readonly filled?: boolean };

/** Reads a script of any kind. */
export function readScript(file: string, text: string): ScriptReading {
  return file.endsWith('.sh') ? readShell(text) : readWindows(file, text);
}

/** Substitutions within substitutions are followed this far. */
const DEEPEST = 5;

function readShell(text: string, depth = 0): ScriptReading {
  const script = parseScript(text);
  if (script === undefined) return { ...readFlat(withoutComments(text, /^[ \t]*#.*$/gm), false), open: true };
  const all = linesOf(script);
  const sure = surelyHeard(all);
  const lines = all.filter(({ heard }) => heard);
  const values = new Values(script, text);
  const speeches = lines.map((line) => {
    const speech = speechOf(line.words, line.redirects);
    return { ...speech, forms: formsOf(speech, line, values), sure: speech.sure && sure.has(line) };
  });
  const inner = depth < DEEPEST ? lines.flatMap(({ words }) => words.flatMap((word) => word.inner)) : [];
  const captured = inner.map(([start, end]) => moved(readShell(text.slice(start, end), depth + 1), start));
  const tags = speeches.flatMap((speech) => speech.tags.map((tag) => ({ ...tag, sure: speech.sure })));
  const forms = speeches.flatMap((speech) => speech.forms.map((tag) => ({ ...tag, sure: speech.sure })));
  const halves = speeches.flatMap((speech) => speech.halves.map((half) => ({ ...half, sure: speech.sure })));
  const ways = depth === 0 && !movesOutput(all) ? waysThrough(script, values) : undefined;
  const said = [...tags, ...captured.flatMap((each) => each.tags)];
  const foreign = said.length === 0 && halves.length === 0 && speeches.some((speech) => speech.foreign);
  const open = foreign || ways === undefined || ways.said.some(({ kind }) => kind === 'perhaps');
  return { tags: said, forms: [...forms, ...captured.flatMap((each) => each.tags)], halves, ways, open };
}

/** What is captured is printed only if someone prints it. */
function moved({ tags }: ScriptReading, by: number): Pick<ScriptReading, 'tags'> {
  return { tags: tags.map((tag) => ({ ...tag, offset: tag.offset + by, sure: false })) };
}

const BATCH_COMMENT = /^[ \t]*@?(?:rem\b|::).*$/gim;
const POWERSHELL_COMMENT = /<#[\s\S]*?#>|^[ \t]*#.*$/gm;

/** Batch files and PowerShell are looked through for tags; their ways are not followed. */
function readWindows(file: string, text: string): ScriptReading {
  if (file.endsWith('.ps1')) {
    const code = withoutComments(text, POWERSHELL_COMMENT).replaceAll('`', ' ');
    const filled = code.replace(/\$(?:\([^)\n]*\)|\{[^}\n]*\}|[\w:]+)/g, (found) => UNKNOWN.repeat(found.length));
    return readFlat(filled, true);
  }
  const code = withoutComments(text, BATCH_COMMENT).replace(/%%?~?\w+%?|![\w]+!/g, (v) => UNKNOWN.repeat(v.length));
  // A caret makes the next character an ordinary one: `^<goto^>`. The characters keep their offsets.
  const offsets = [...code.matchAll(/\^?([\s\S])/g)].map((found) => found.index + found[0].length - 1);
  const reading = readFlat(offsets.map((offset) => code[offset]).join(''), true);
  const back = <T extends { offset: number }>(found: T): T => ({ ...found, offset: offsets[found.offset] ?? 0 });
  const tags = reading.tags.map(back);
  return { ...reading, tags, forms: tags, halves: reading.halves.map(back) };
}

function readFlat(text: string, sure: boolean): ScriptReading {
  const { tags, halves } = readMentions(text);
  const all = tags.map((tag) => ({ ...tag, sure }));
  return {
    tags: all,
    forms: all,
    halves: halves.map((half) => ({ ...half, sure })),
    ways: undefined,
    open: tags.length === 0,
  };
}

const withoutComments = (text: string, comment: RegExp): string =>
  text.replace(comment, (found) => found.replace(/[^\n]/g, ' '));
