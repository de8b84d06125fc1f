/**
 * docs/replay.md is executed: the answers of each section are played with its workflow, and the story, or what is
 * wrong with them, must be what the page says.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ANSWER_KEYS } from '../../src/scenario/answer-schema.ts';
import { CANNED_FAILURES } from '../../src/scenario/scenario.ts';
import { newCliProject } from '../cli/cli-project.ts';
import { plain, readPage, type Section } from '../docs/page.ts';
import { logLines, runToEnd } from './test-project.ts';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const PAGE = readFileSync(join(DOCS, 'replay.md'), 'utf8');
const SECTIONS = readPage(PAGE);
const KINDS = ['markdown', 'bash', 'yaml', 'story', 'findings', 'console'];

const only = ({ blocks }: Section, ...kinds: string[]) => blocks.filter(({ kind }) => kinds.includes(kind));

describe('docs/replay.md', () => {
  test('has no unchecked example', () => {
    for (const section of SECTIONS) {
      for (const { kind } of section.blocks) expect(KINDS).toContain(kind);
      expect(only(section, 'story', 'findings')).toHaveLength(only(section, 'yaml').length);
      for (const { name, above } of only(section, 'markdown', 'bash', 'yaml')) expect(above).toContain(`\`${name}\``);
    }
  });

  const examples = SECTIONS.filter((section) => only(section, 'yaml').length > 0);
  test.each(examples.map((section) => [section.title, section] as const))(
    '%s: it runs as stated',
    async (_, section) => {
      const files = Object.fromEntries(only(section, 'markdown', 'bash').map(({ name, text }) => [name, `${text}\n`]));
      const [answers] = only(section, 'yaml');
      const [story] = only(section, 'story');
      const [findings] = only(section, 'findings');
      const played = runToEnd(files, answers?.text ?? '');
      if (story !== undefined)
        expect(sorted(logLines((await played).handle.seen.events))).toStrictEqual(sorted([story.text]));
      else {
        const wrong = await played.then(String, (error: Error) => error.message);
        const [, ...lines] = wrong.replaceAll(/^.*\/wf\//gm, '').split('\n');
        expect(lines.join('\n')).toBe(findings?.text);
      }
    },
  );

  test('begins with a command that replays the first file', async () => {
    const room = newCliProject();
    const first = SECTIONS.find(({ title }) => title === 'A first file');
    mkdirSync(join(room.cwd, 'notes'));
    for (const { name, text } of first?.blocks.filter((block) => block.name !== '') ?? [])
      writeFileSync(join(room.cwd, 'notes', name), `${text}\n`);
    const [command] = SECTIONS.flatMap((section) => only(section, 'console'));
    const [raymond, ...argv] = command?.text.split(' ') ?? [];
    expect(raymond).toBe('raymond');
    expect(await room.raymond(...argv)).toMatchObject({ code: 0, out: 'green\n' });
  });

  test('names every key of an answer, and every failure', () => {
    const column = (header: string) =>
      SECTIONS.flatMap(({ tables }) => tables)
        .filter((table) => table.header[0] === header)
        .flatMap(({ rows }) => rows.map(([cell = '']) => plain(cell)));
    expect(column('Key')).toStrictEqual(ANSWER_KEYS);
    expect(column('Failure')).toStrictEqual(CANNED_FAILURES);
  });

  test('has no broken link', () => {
    const titles = SECTIONS.map(({ title }) => title.toLowerCase().replaceAll(' ', '-'));
    for (const [, file = '', anchor = ''] of PAGE.matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)) {
      expect(existsSync(join(DOCS, file)), file).toBe(true);
      if (file === '') expect(titles).toContain(anchor);
    }
  });
});

/** The lines of a story, agent by agent: which of them was faster does not matter. */
function sorted(story: readonly string[]): readonly string[] {
  const agentOf = (line: string): string => /^\[([^\]]*)\]/.exec(line)?.[1] ?? '~';
  return story
    .join('\n')
    .split(/\n(?=\[|the run)/)
    .toSorted((a, b) => (agentOf(a) < agentOf(b) ? -1 : agentOf(a) > agentOf(b) ? 1 : 0));
}
