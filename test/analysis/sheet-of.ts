import type { EntryPlaces, Place, Sheet, SheetFile } from '../../src/analysis/sheet.ts';
import { isPrompt, type Platform, resolveEntry, runsOn } from '../../src/core/names.ts';
import { readEntry } from '../../src/workflow/allowed-transitions.ts';
import { dissectPrompt } from '../../src/workflow/frontmatter.ts';
import { EMPTY } from '../../src/workflow/keys.ts';
import { newReport } from '../../src/workflow/report.ts';
import { stateOf } from '../../src/workflow/state-file.ts';
import { decodeText } from '../../src/workflow/text.ts';
import { type Field, readFields, type Value } from '../../src/workflow/value.ts';

/** The files of a workflow by name. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A workflow made of these files, as lint looks at it. */
export function sheetOf(files: Files, changes: Partial<Sheet> = {}): Sheet {
  const platform = changes.platform ?? 'unix';
  const names = Object.keys(files).sort();
  return {
    name: 'example',
    platform,
    entry: resolveEntry({ files: names, platform }),
    entryGiven: false,
    resetStack: 'keep',
    variables: [],
    files: names.map((file) => fileOf(file, files[file] ?? '', platform)),
    ...changes,
  };
}

function fileOf(file: string, content: string | Uint8Array, platform: Platform): SheetFile {
  if (!runsOn(file, platform)) return { kind: 'other', file };
  const kind = isPrompt(file) ? 'prompt' : 'script';
  const decoded = decodeText(typeof content === 'string' ? Buffer.from(content) : content, kind);
  if (decoded.kind === 'not-text') return { kind: 'unreadable', file, at: decoded.at, message: decoded.message };
  const { text } = decoded;
  if (kind === 'script') {
    return { kind: 'state', file, text, state: stateOf(file, kind, EMPTY, text), findings: [], entries: [], keys: {} };
  }
  const { frontmatter, body, findings, yaml } = dissectPrompt(file, text, platform);
  return {
    kind: 'state',
    file,
    text,
    state: stateOf(file, kind, frontmatter, body),
    findings,
    ...placesIn(yaml, platform),
  };
}

/** Where the frontmatter says what. */
function placesIn(
  yaml: Value | undefined,
  platform: Platform,
): { entries: EntryPlaces[]; keys: Record<string, Place> } {
  if (yaml?.kind !== 'mapping') return { entries: [], keys: {} };
  const fields = readFields(yaml, newReport(''));
  const policy = fields.get('allowed_transitions')?.value;
  const items = policy?.kind === 'list' ? policy.items() : [];
  const read = items.map((item) => [item.at, readEntry(item, newReport(''), platform)] as const);
  const entries = read.flatMap(([at, entry]) => (entry === undefined ? [] : [{ at, keys: placesOf(entry.fields) }]));
  return { entries, keys: placesOf(fields) };
}

const placesOf = (fields: ReadonlyMap<string, Field>): Record<string, Place> =>
  Object.fromEntries([...fields].map(([name, { value }]) => [name, value.at]));
