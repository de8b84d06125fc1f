import type { EntryPlaces, Place, Sheet, SheetFile, StateSheet } from '../analysis/sheet.ts';
import {
  isNoNote,
  isPrompt,
  type Platform,
  type Resolution,
  resolveEntry,
  resolveState,
  runsOn,
  type Scope,
} from '../core/names.ts';
import { readEntry } from './allowed-transitions.ts';
import { entriesBelow } from './below.ts';
import { mapConcurrently } from './concurrent.ts';
import { dissectPrompt } from './frontmatter.ts';
import { InvalidWorkflow } from './invalid.ts';
import { EMPTY } from './keys.ts';
import { nameOf, sourceOf } from './load.ts';
import { type Located, locate, wrongPath } from './locate.ts';
import { newReport, WHOLE } from './report.ts';
import type { Source } from './source.ts';
import { stateOf } from './state-file.ts';
import { decodeText } from './text.ts';
import { type Field, readFields, type Value } from './value.ts';

/** What is known about the runs of a workflow besides its files. */
export type Circumstances = Pick<Sheet, 'platform' | 'resetStack' | 'variables'>;

/** A sheet and the folder or zip that its files are in. */
export interface Opened {
  readonly sheet: Sheet;
  readonly root: string;
  readonly isZip: boolean;
}

const MOST_READS = 32;

/**
 * Reads all of a folder, a zip or a state's workflow, however broken it is: what is wrong with a file stands in the sheet.
 * Throws only if there is nothing to read: a wrong path, a zip that cannot be opened.
 */
export async function readSheet(path: string, { platform, resetStack, variables }: Circumstances): Promise<Opened> {
  const located = await locate(path);
  const source = sourceOf(located);
  const scope = { files: (await source.list()).filter(isNoNote), platform };
  const entry = entryOf(located, scope);
  const sheet = {
    name: nameOf(located),
    platform,
    entry,
    entryGiven: located.kind === 'state',
    ...(entry.kind === 'unknown' && located.kind === 'folder' && { below: entriesBelow(located.path, platform) }),
    resetStack,
    variables,
    files: await mapConcurrently(scope.files, MOST_READS, (file) => readFile(source, file, platform)),
  };
  return { sheet, root: located.kind === 'state' ? located.folder : located.path, isZip: located.kind === 'zip' };
}

function entryOf(located: Located, scope: Scope): Resolution {
  if (located.kind !== 'state') return resolveEntry(scope);
  if (scope.files.includes(located.file)) return resolveState(located.file, scope);
  throw wrongPath(
    `${located.path} is no state: README.md, CLAUDE.md, AGENTS.md and files whose name begins with a dot are not`,
  );
}

async function readFile(source: Source, file: string, platform: Platform): Promise<SheetFile> {
  if (!runsOn(file, platform)) return { kind: 'other', file };
  try {
    return sheetFileOf(file, await source.read(file), platform);
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const [finding] = error.findings;
    return { kind: 'unreadable', file, at: WHOLE, message: finding?.message ?? error.message };
  }
}

/** What the file of a state of this platform holds, read by itself. */
export function sheetFileOf(file: string, bytes: Uint8Array, platform: Platform): SheetFile {
  const kind = isPrompt(file) ? 'prompt' : 'script';
  const decoded = decodeText(bytes, kind);
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

/** Where the frontmatter says what. Whatever is wrong with it is in the findings already. */
function placesIn(yaml: Value | undefined, platform: Platform): Pick<StateSheet, 'entries' | 'keys'> {
  if (yaml?.kind !== 'mapping') return { entries: [], keys: {} };
  const fields = readFields(yaml, newReport(''));
  const policy = fields.get('allowed_transitions')?.value;
  return { entries: policy?.kind === 'list' ? entriesIn(policy.items(), platform) : [], keys: placesOf(fields) };
}

/** An entry that cannot be read is not in the policy either. */
function entriesIn(items: readonly Value[], platform: Platform): readonly EntryPlaces[] {
  return items.flatMap((item) => {
    const read = readEntry(item, newReport(''), platform);
    return read === undefined ? [] : [{ at: item.at, keys: placesOf(read.fields) }];
  });
}

const placesOf = (fields: ReadonlyMap<string, Field>): Readonly<Record<string, Place>> =>
  Object.fromEntries([...fields].map(([name, { value }]) => [name, value.at]));
