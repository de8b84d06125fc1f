import { describe, expect, test } from 'vitest';
import { toSvg } from '../../src/drawing/draw-svg.ts';
import { RunDriver } from '../core/run-driver.ts';
import { HOSTILE_FILES, HOSTILE_NAMES } from './hostile.ts';
import { diagramOf, overlayOf } from './run-overlay.ts';

const FILES = {
  'START.md':
    '---\ndescription: The first of all states that there are\nallowed_transitions: [{ tag: goto, target: B }]\n---\nx',
  'B.sh': '#!/bin/bash\nif [ -e x ]; then echo "<goto>START</goto>"; else echo "<goto>GHOST</goto>"; fi',
};

/** The classes, title and texts of each group, by its id. */
function groupsIn(svg: string): ReadonlyMap<string, { classes: string; title: string; texts: readonly string[] }> {
  const groups = svg.matchAll(/<g id="(\w+)" class="([^"]*)"[^>]*>\s*<title>([^<]*)<\/title>((?:(?!<g ).)*)/gs);
  return new Map(
    [...groups].map(([, id = '', classes = '', title = '', body = '']) => [
      id,
      { classes, title, texts: [...body.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text = '']) => text) },
    ]),
  );
}

describe('as SVG', () => {
  test('every state and arrow has its name, kind and label', async () => {
    const groups = groupsIn(await toSvg(diagramOf(FILES)));
    expect(groups.get('graph0')?.title).toBe('example');
    expect(groups.get('s1')).toStrictEqual({ classes: 'node script state', title: 'B.sh', texts: ['B.sh'] });
    expect(groups.get('s0')).toStrictEqual({
      classes: 'node prompt state',
      title: 'START.md\nThe first of all states that there are',
      texts: ['START.md', 'The first of all states that there…'],
    });
    expect(groups.get('s2')).toStrictEqual({
      classes: 'node missing state',
      title: 'GHOST\nmissing',
      texts: ['GHOST', 'missing'],
    });
    const arrows = [...groups]
      .filter(([id]) => id.startsWith('a'))
      .map(([, { classes, title }]) => `${classes}: ${title}`);
    expect(arrows.sort()).toStrictEqual([
      'edge begin: the start → START.md',
      'edge goto: B.sh → GHOST: goto',
      'edge goto: B.sh → START.md: goto',
      'edge goto: START.md → B.sh: goto (implicit)',
    ]);
  });

  test('an ambiguous name lists its candidates, and a computed one is any state', async () => {
    const files = {
      'START.md': 'If so <goto>A</goto>, else <result>x</result>.',
      'A.md': 'Stop. <result>x</result>',
      'A.sh': '#!/bin/bash\necho "<goto>$(cat next)</goto>"\n',
    };
    const groups = groupsIn(await toSvg(diagramOf(files)));
    expect(groups.get('s1')).toStrictEqual({
      classes: 'node ambiguous state',
      title: 'A\nambiguous: A.md or A.sh',
      texts: ['A', 'ambiguous: A.md or A.sh'],
    });
    expect(groups.get('s3a')).toStrictEqual({
      classes: 'node any',
      title: 'any state: chosen at run time',
      texts: ['any state'],
    });
  });

  test('the label of an arrow from a state to itself is beside the state', async () => {
    const files = { 'WAIT_FOR_ALL_OF_THEM.sh': '#!/bin/bash\necho "<goto>WAIT_FOR_ALL_OF_THEM.sh</goto>"' };
    const svg = await toSvg(diagramOf(files));
    const [, points = ''] =
      /<polygon [^>]*points="([^"]*)"\/>\s*<text[^>]*>WAIT/.exec(svg.replace(/<title>[^<]*<\/title>/g, '')) ?? [];
    const right = Math.max(...points.split(' ').map((point) => Number(point.split(',')[0])));
    const [, middle = ''] = /<text [^>]*x="([^"]*)"[^>]*>[^<]*goto/.exec(svg) ?? [];
    expect(right).toBeGreaterThan(100);
    // The word is about 30 wide.
    expect(Number(middle)).toBeGreaterThan(right + 20);
  });

  test('a run shows visited, current and unvisited states', async () => {
    const driver = new RunDriver({ files: ['START.md', 'B.sh'] }).answer('<goto>B</goto>');
    driver.begin('main');
    const groups = groupsIn(await toSvg(diagramOf({ ...FILES, 'C.md': '<goto>B</goto>' }, overlayOf(driver))));
    expect(groups.get('s1')).toMatchObject({
      classes: 'node script state here',
      texts: ['B.sh', '1 visit, 0.0s', '▶ main'],
    });
    expect(groups.get('s3')).toMatchObject({ classes: 'node prompt state untaken', texts: ['C.md'] });
    expect(groups.get('s0')).toMatchObject({
      classes: 'node prompt state',
      texts: ['START.md', 'The first of all states that there…', '1 visit, 0.0s'],
    });
    // What is missing is seen, whether or not somebody went there.
    expect(groups.get('s2')).toMatchObject({ classes: 'node missing state' });
  });

  test('no name can escape its element', async () => {
    const svg = await toSvg(diagramOf(HOSTILE_FILES));
    const elements = new Set([...svg.matchAll(/<(\/?[a-z]+)/gi)].map(([, name]) => name));
    const drawn = ['svg', 'g', 'title', 'polygon', 'path', 'ellipse', 'text'];
    expect(drawn.flatMap((name) => [name, `/${name}`])).toStrictEqual(expect.arrayContaining([...elements]));
    expect(svg).not.toMatch(/<[a-z][^>]*\son\w+=/);
    const groups = [...groupsIn(svg).values()];
    expect(groups.flatMap(({ texts }) => texts)).toContain('a\\N\\l\\&quot;b.md');
    const titles = groups.map(({ title }) => title);
    expect(titles).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;.md');
    expect(titles).toContain('a\\N\\l\\&quot;b.md');
    expect(titles).toContain('&amp;lt;b&amp;gt; &amp;amp;.md');
    expect(svg).not.toMatch(/(?![\n\t])\p{Cc}|\u202e/u);
    expect([...groupsIn(svg).keys()].filter((id) => /^s\d+$/.test(id)).length).toBeGreaterThanOrEqual(
      HOSTILE_NAMES.length,
    );
  });

  test('a workflow without states is an empty diagram', async () => {
    expect(await toSvg(diagramOf({}))).toMatch(/^<svg .*<\/svg>\s*$/s);
  });
});

test('a picture that takes too long names Mermaid as the remedy, also when it is asked for again', async () => {
  const names = Array.from({ length: 60 }, (_, n) => `S${n}`);
  const gotos = names.map((name) => `<goto>${name}</goto>`).join('\n');
  const diagram = diagramOf(Object.fromEntries(names.map((name) => [`${name}.md`, gotos])));
  for (const deadlineMs of [20, 20_000])
    await expect(toSvg(diagram, deadlineMs)).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/is too large to be drawn as a picture: it has 60 states and \d+ transitions/),
        hint: expect.stringContaining('mermaid'),
      }),
    );
});
