/** What the pages say about data, messages and options is held against the code. */
import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../src/core/options/options.ts';
import { newAgent } from '../src/core/run/agent.ts';
import { applyChange, changeOf } from '../src/core/run/change.ts';
import { EMPTY_LEDGER } from '../src/core/run/ledger.ts';
import { step } from '../src/core/step.ts';
import { type FailureKind, REACTIONS } from '../src/language/failure.ts';
import { formatJournalLine } from '../src/storage/journal-lines.ts';
import { addStateChecksum, serializeSavedRun } from '../src/storage/run-file.ts';
import { parseSavedRun, validateRun } from '../src/storage/run-schema.ts';
import { explainFailure } from '../src/turns/claude/failure.ts';
import * as fields from './docs/fields.ts';
import { itemsOf } from './docs/items.ts';
import { linksOf } from './docs/links.ts';
import { ANYTHING, canBePrinted, isCoveredBy, REPORTERS, sourceTexts } from './docs/messages.ts';
import { plain } from './docs/page.ts';
import { allPages, openPage, type Page } from './docs/pages.ts';

const library = openPage('docs/library.md');
const runFile = openPage('docs/run-file.md');
const troubleshooting = openPage('docs/troubleshooting.md');
const sources = sourceTexts();

/** The cells of a column of the table in a section, each as the pieces of code in it. */
function column(page: Page, title: string, header: string): readonly (readonly string[])[] {
  const tables = page.sections.filter((section) => section.title === title).flatMap((section) => section.tables);
  const table = tables.find((each) => each.header.some((cell) => cell.replaceAll('`', '') === header));
  if (table === undefined) throw new Error(`${page.path}: there is no table with a column ${header} under "${title}"`);
  const at = table.header.findIndex((cell) => cell.replaceAll('`', '') === header);
  return table.rows.map((row) => (row[at]?.includes('`') ? plain(row[at]).split('\n') : []));
}

const sorted = (names: Iterable<string>): readonly string[] => [...names].sort();
const named = (page: Page, title: string, header: string): readonly string[] =>
  sorted(column(page, title, header).flat());

/** The names that the lists of a section explain, each with those in parentheses after it. */
const namesWithRemarks = (page: Page, title: string): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    itemsOf(page, title).flatMap(({ names, remarked }) => names.map((name) => [name, sorted(remarked)])),
  );

const keysOfEach = (objects: Readonly<Record<string, object>>): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(Object.entries(objects).map(([name, object]) => [name, sorted(Object.keys(object))]));

describe('the run file on its page', () => {
  const examples = runFile.blocks.filter(({ kind }) => kind === 'json').map(({ text }) => text);
  const [state = ''] = examples;
  const line = examples.find((text) => 'head' in JSON.parse(text)) ?? '';

  // On the page it is wrapped differently, so its checksums are only examples.
  const { checksum: _, ...content } = JSON.parse(state);
  const stateText = addStateChecksum(JSON.stringify(content, null, 2));

  test('can be read', () => {
    const saved = JSON.parse(serializeSavedRun(parseSavedRun(stateText, 'state.json')));
    expect({ ...saved, checksum: expect.any(String) }).toStrictEqual(JSON.parse(state));
  });

  test('is followed by exactly the step that the answer causes', () => {
    const scope = { files: ['START.md', 'RESEARCH.md', 'WRITE.md'], platform: 'unix' } as const;
    const cost = { kind: 'reported', micros: 220800 } as const;
    const said = { at: 1794867402500, agent: 'main', text: '<result>The limit is 64 MiB.</result>' };
    const { run, journal } = parseSavedRun(stateText, 'state.json');
    const next = step(run, { kind: 'answered', ...said, cost, denials: [], folders: {}, scope });
    const written = JSON.parse(formatJournalLine(changeOf(run, next), journal.owner));
    expect({ ...written, sum: expect.any(String) }).toStrictEqual(JSON.parse(line));
    expect(validateRun(applyChange(run, JSON.parse(line)), 'step.json')).toStrictEqual(next.run);
  });

  const nothing = { parent: null, input: null, model: null, effort: null, variables: {}, since: 0 };
  test.each([
    ['The run', { ...JSON.parse(state), rerunOf: {} }],
    ['Options', DEFAULT_OPTIONS],
    ['Ledger', { ...EMPTY_LEDGER, unknown: [] }],
    ['Agents', newAgent({ ...nothing, id: 'main', state: 'START.md', cwd: '/' })],
    ['Phases', fields.PHASES],
    ['The journal', { ...JSON.parse(line), archived: [], start: {} }],
  ])('has every field under "%s"', (title, real) => {
    const stated = itemsOf(runFile, title).flatMap(({ names }) => names);
    expect(sorted(stated)).toStrictEqual(sorted(Object.keys(real)));
  });

  test('has every status', () => {
    expect(named(runFile, 'Status', 'Status')).toStrictEqual(sorted(Object.keys(fields.STATUSES)));
  });

  test('has every field of a phase', () => {
    expect(namesWithRemarks(runFile, 'Phases')).toStrictEqual(keysOfEach(fields.PHASES));
  });
});

describe('the library on its page', () => {
  test.each([
    ['Run a workflow', 'RunRequest', fields.RUN_REQUEST],
    ['Stop and resume', 'ResumeRequest', fields.RESUME_REQUEST],
    ['Runs of other processes', 'StopRequest', fields.STOP_REQUEST],
    ['The interpreter alone', 'Signal', fields.SIGNALS],
    ['The interpreter alone', 'Turn', fields.TURNS],
  ])('has every name under "%s": %s', (title, header, real) => {
    expect(named(library, title, header)).toStrictEqual(sorted(Object.keys(real)));
  });

  test('has everything about a running run', () => {
    const stated = column(library, 'Run a workflow', 'RunHandle').flat();
    expect(sorted(stated.map((name) => name.replace('()', '')))).toStrictEqual(sorted(Object.keys(fields.RUNNING)));
  });

  test('has every event with its fields', () => {
    expect(namesWithRemarks(library, 'Events')).toStrictEqual(keysOfEach(fields.EVENTS));
  });
});

describe('the messages in docs/troubleshooting.md', () => {
  const messages = troubleshooting.blocks
    .filter(({ kind }) => kind === 'text')
    .flatMap(({ text, line }) => text.split('\n').map((message, at) => ({ message, line: line + 1 + at })));

  test('can all be printed', () => {
    expect(messages.filter(({ message }) => !canBePrinted(message, sources))).toStrictEqual([]);
  });

  test('are all that can be reported', () => {
    const reported = sources.flatMap((texts) => texts.reported);
    const missing = reported.filter(({ text }) => !messages.some(({ message }) => isCoveredBy(text, message)));
    expect(missing).toStrictEqual([]);
    // A renamed function would leave its messages unchecked.
    expect(sorted(new Set(reported.map(({ reporter }) => reporter)))).toStrictEqual(sorted(Object.keys(REPORTERS)));
  });

  test('cover every kind of failure of a turn', () => {
    const kinds = Object.keys(REACTIONS) as FailureKind[];
    const isQuoted = (sentence: string) => messages.some(({ message }) => message === sentence);
    const isNamed = (kind: string) => troubleshooting.text.match(new RegExp(`\\*${kind}\\.?\\*`)) !== null;
    const sentences = kinds.map((kind) => explainFailure(kind, ANYTHING)).filter((sentence) => sentence !== ANYTHING);
    expect(sentences.filter((sentence) => !isQuoted(sentence))).toStrictEqual([]);
    expect(kinds.filter((kind) => !isNamed(kind))).toStrictEqual([]);
  });
});

test('docs/unattended.md quotes a message that can be printed', () => {
  const quoted = openPage('docs/unattended.md').blocks.filter(({ kind, name }) => kind === 'text' && name === '');
  expect(quoted.filter(({ text }) => !canBePrinted(text, sources))).toStrictEqual([]);
});

test('every page can be reached from the README', () => {
  const pages = allPages();
  const found = new Set(pages.slice(0, 1));
  for (const page of found) {
    for (const link of linksOf(page)) for (const to of pages) if (to.path === link.path) found.add(to);
  }
  expect(pages.filter((page) => !found.has(page)).map(({ path }) => path)).toStrictEqual([]);
});
