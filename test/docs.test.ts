/**
 * The documentation is executed. What stands in a fenced block is of one of these kinds, and nothing else:
 *
 *   states                          the states of the examples in this section and those below it; `a/` is a folder
 *   markdown FILE, bash FILE        a file of the section's workflow, under a line that names it
 *   findings                        what Raymond says about that workflow; without it, nothing
 *   answer [FILE], outcome          an answer in that state (else in the entry), and what Raymond makes of it
 *   reminder                        what Raymond sends after the answer and outcome above it
 *   variables, template, rendered   a template, filled in
 *   console                         commands
 *
 * Tables are checked if their header is one of those in TABLES.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Decision, interpretAnswer } from '../src/core/answers/answer.ts';
import { formatReminder } from '../src/language/reminder.ts';
import { type Platform, resolveState } from '../src/language/state-names.ts';
import { renderTemplate } from '../src/language/text/template.ts';
import { TRANSITIONS } from '../src/language/transitions/index.ts';
import { FRONTMATTER_KEYS } from '../src/workflow/frontmatter-keys.ts';
import { MANIFEST_KEYS } from '../src/workflow/manifest.ts';
import { openWorkflow } from '../src/workflow/workflow.ts';
import { type Example, exampleOf, filesShown, findingsOf, openExample } from './docs/example.ts';
import { describeDecision } from './docs/outcome.ts';
import { type Block, plain, readPage, type Section, type Table } from './docs/page.ts';
import { runTableTurns } from './docs/table-turns.ts';
import { temporaryFolders } from './workflow/temp.ts';

const yamlFolder = temporaryFolders();
const DOCS = join(import.meta.dirname, '..', 'docs');
const PAGES = ['protocol.md', 'authoring.md'].map((name) => {
  const text = readFileSync(join(DOCS, name), 'utf8');
  return { name, text, sections: readPage(text) };
});

/** Each kind of block with the kind that has to stand before it, if any. */
const KINDS: Readonly<Record<string, string | null>> = {
  states: null,
  markdown: null,
  bash: null,
  findings: 'markdown',
  answer: null,
  outcome: 'answer',
  reminder: 'outcome',
  variables: null,
  template: 'variables',
  rendered: 'template',
  console: null,
  yaml: null,
};

const TABLES: Readonly<Record<string, (table: Table, section: Section, page: string) => void>> = {
  'Answer | Outcome': (table, section) =>
    test.each(table.rows.map((row) => row.map(plain)))(
      'the answer %s has the stated outcome',
      async (answer, outcome) => {
        expect(describeDecision((await decide(exampleOf(section), answer ?? '', undefined)).decision)).toBe(outcome);
      },
    ),
  'Turn | Agent | State | Session | `{{result}}` | Answer | Then': checkTable,
  'Files | Name | Unix | Windows': (table) =>
    test.each(table.rows.map((row) => row.map(plain)))(
      'with %s, the name %s has the stated meaning',
      (files = '', name = '', ...meant) => {
        const platforms: Platform[] = ['unix', 'windows'];
        const found = platforms.map((platform) => resolveState(name, { files: files.split('\n'), platform }));
        const words = { unsafe: 'unsafe', unknown: 'unknown', ambiguous: 'ambiguous', foreign: 'wrong platform' };
        expect(found.map((each) => (each.kind === 'found' ? each.file : words[each.kind]))).toStrictEqual(meant);
      },
    ),
  'Tag | Between the tags | Required | Optional | Session of the next turn | Return stack | Directory': (table) =>
    test('the table of tags names every tag with its attributes', () => {
      const stated = table.rows.map(([tag = '', body, required = '', optional = '']) => {
        const attributes = [required, optional].flatMap((cell) => (cell === '' ? [] : plain(cell).split('\n')));
        return [
          plain(tag),
          {
            body,
            attributes: attributes.sort(),
            required: required === '' ? [] : plain(required).split('\n'),
            variables: optional.includes('variables'),
          },
        ];
      });
      const real = Object.entries(TRANSITIONS).map(([name, { body, attributes, required, variables }]) => {
        return [
          name,
          {
            body: body === 'text' ? 'any text' : `a ${body}`,
            attributes: [...attributes].sort(),
            required: [...required],
            variables,
          },
        ];
      });
      expect(Object.fromEntries(stated)).toStrictEqual(Object.fromEntries(real));
    }),
  'Key | Value | Meaning': (table) =>
    test('the table of frontmatter keys names every key', () => {
      expect(table.rows.map(([key = '']) => plain(key))).toStrictEqual(Object.keys(FRONTMATTER_KEYS));
    }),
  'Key | Effect': (table) =>
    test('the table of manifest keys names every key', () => {
      expect(table.rows.map(([key = '']) => plain(key))).toStrictEqual(Object.keys(MANIFEST_KEYS));
    }),
};

describe.each(PAGES)('docs/$name', ({ name: page, text, sections }) => {
  test('has no unchecked example', () => {
    for (const { blocks, tables } of sections) {
      for (const [index, { kind, line }] of blocks.entries()) {
        const before = Object.hasOwn(KINDS, kind) ? KINDS[kind] : `one of ${Object.keys(KINDS).join(', ')}`;
        if (before !== null) expect(blocks[index - 1]?.kind, `line ${line}: \`${kind}\` has to follow`).toBe(before);
      }
      const followed = (kind: string) => blocks.filter((block) => block.kind === kind).length;
      expect(followed('outcome')).toBe(followed('answer'));
      expect(followed('rendered')).toBe(followed('template'));
      for (const { header } of tables) {
        const meant = Object.keys(TABLES).filter((each) => each.split(' | ')[0] === header[0]);
        if (meant.length > 0) expect(meant).toContain(header.join(' | '));
      }
    }
  });

  test('shows the name of each file above it, and has only tables with complete rows', () => {
    for (const section of sections) {
      for (const { name, above } of filesShown(section)) expect(above).toContain(`\`${name}\``);
      for (const { header, rows, line } of section.tables) {
        for (const row of rows) expect(row.length, `table on line ${line}: ${row.join(' | ')}`).toBe(header.length);
      }
    }
  });

  test('has no broken link', () => {
    for (const [, file = '', anchor = ''] of text.matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)) {
      expect(file === '' || existsSync(join(DOCS, file)), file).toBe(true);
      // Those of other pages are checked with all links, in doc-commands.test.ts.
      if (anchor !== '' && file === '')
        expect(sections.map(({ title }) => title.toLowerCase().replaceAll(' ', '-'))).toContain(anchor);
    }
  });

  for (const section of sections.filter(hasExamples)) describe(section.title, () => checkSection(section, page));
});

const hasExamples = ({ blocks, tables }: Section): boolean =>
  blocks.length > 0 || tables.some(({ header }) => Object.hasOwn(TABLES, header.join(' | ')));

function checkSection(section: Section, page: string): void {
  const example = exampleOf(section);
  const of = (kind: string): readonly Block[] => section.blocks.filter((block) => block.kind === kind);
  if (filesShown(section).length > 0 || of('states').length > 0) checkExample(example, of('findings')[0]?.text ?? '');
  for (const [index, block] of section.blocks.entries()) {
    const [next, afterNext] = section.blocks.slice(index + 1);
    if (block.kind === 'answer') checkAnswer(example, block, next, afterNext);
    if (block.kind === 'variables') checkTemplate(block, next, afterNext);
    if (block.kind === 'console') checkCommands(block);
    if (block.kind === 'bash') checkScript(block);
    if (block.kind === 'yaml') checkManifest(block);
  }
  for (const table of section.tables) TABLES[table.header.join(' | ')]?.(table, section, page);
}

function checkExample(example: Example, findings: string): void {
  test('the workflow has the stated findings', async () => {
    expect(await findingsOf(example)).toBe(findings);
  });
  if (findings !== '') return;
  test('every state that the workflow names exists', async () => {
    const scope = await (await openExample(example)).scope();
    for (const [file, text] of Object.entries(example.files)) {
      for (const name of statesWritten(text)) expect(resolveState(name, scope).kind, `${file}: ${name}`).toBe('found');
    }
  });
}

function checkAnswer(example: Example, { line, name, text }: Block, outcome?: Block, reminded?: Block): void {
  test(`the answer on line ${line} has the stated outcome`, async () => {
    const { decision, remind } = await decide(example, text, name || undefined);
    expect(describeDecision(decision)).toBe(outcome?.text);
    if (reminded?.kind === 'reminder') expect(remind).toBe(reminded.text);
  });
}

function checkTemplate({ line, text }: Block, template?: Block, rendered?: Block): void {
  test(`the template on line ${line} gives the stated text`, () => {
    const pairs = text.split('\n').map((each) => each.split(' = '));
    expect(renderTemplate(template?.text ?? '', Object.fromEntries(pairs)).text).toBe(rendered?.text);
  });
}

function checkCommands({ line, text }: Block): void {
  test(`the commands on line ${line} are valid`, () => {
    for (const command of text.split('\n')) {
      expect(command).toMatch(/^raymond [a-z.]+( --(input "[^"]*"|budget \d+\.\d\d|model [a-z]+))*$/);
    }
  });
}

function checkManifest({ text, line }: Block): void {
  test(`the manifest or workflow on line ${line} is sound`, async () => {
    const isManifest = !/^states:/m.test(text);
    const files: Record<string, string> = isManifest
      ? { 'workflow.yaml': text, 'START.md': '' }
      : { 'flow.yaml': text };
    const folder = yamlFolder(files);
    const { findings } = await openWorkflow(isManifest ? folder : join(folder, 'flow.yaml'), 'unix');
    expect(findings).toStrictEqual([]);
  });
}

function checkScript({ name, text }: Block): void {
  test.skipIf(process.platform === 'win32')(`${name} is a script that bash can read (not on Windows)`, () => {
    expect(spawnSync('/bin/bash', ['-n'], { input: text, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });
}

function checkTable(table: Table, section: Section, page: string): void {
  test(`the run on line ${table.line} has the stated turns`, async () => {
    const example = exampleOf(section);
    const rows = table.rows.map((row) => row.map((cell, column) => (column === 5 ? plain(cell) : cell)));
    const lines = rows.map(([, agent = '', , , , answer = '']) => ({ agent, answer }));
    const played = await runTableTurns(await openExample(example), example.folders, lines);
    expect(played.rows).toStrictEqual(rows);
    expect(played.unknown).toStrictEqual([]);
    if (page === 'authoring.md') expect(played.run.status).toBe('completed');
  });
}

/** What Raymond makes of an answer in a state of an example, and how it would ask again. */
async function decide(example: Example, answer: string, file: string | undefined) {
  const workflow = await openExample(example);
  const scope = await workflow.scope();
  const { rules } = await workflow.state(file ?? workflow.entry);
  const context = {
    policy: rules.policy,
    scope,
    folders: example.folders,
    files: { 'items.txt': { text: 'a\nb\n' } },
    workflows: {},
    state: 'START.md',
    nesting: 0,
    maxDepth: 8,
    resetStack: 'keep',
    maxForks: null,
    implicit: rules.forceImplicit === true ? 'always' : 'without_tag',
    variables: {},
    openWorkers: () => 5,
  } as const;
  const decision: Decision = interpretAnswer(answer, context);
  return {
    decision,
    remind: decision.kind === 'wrong' ? formatReminder(decision.problem, rules.policy, scope) : undefined,
  };
}

/** The states named by all the tags that a prompt or script mentions. */
function statesWritten(text: string): readonly string[] {
  const tags = [...text.matchAll(/<(goto|reset|call|function|fork|fork-each|join)\b([^>]*)>([^<]*)<\/\1>/g)];
  return tags.flatMap(([, , attributes = '', body = '']) => {
    return [body, ...[...attributes.matchAll(/(?:return|next|timeout_next)="([^"]*)"/g)].map(([, name = '']) => name)];
  });
}
