import { expect, test } from 'vitest';
import { renderLegend } from '../../src/drawing/html-page.ts';
import { toMermaid } from '../../src/drawing/mermaid.ts';
import { buildStateCards, listPageArrows } from '../../src/drawing/state-cards.ts';
import { RunDriver } from '../core/run-driver.ts';
import { diagramOf, overlayOf } from './run-overlay.ts';

const FILES = {
  'START.md': 'If so <goto>A</goto>, else <goto>B</goto>, or `<goto>START</goto>`.',
  'A.md': 'Stop. <result>x</result>',
  'A.sh': '#!/bin/bash\necho "<goto>$(cat next)</goto>"\n',
  'B.sh': '#!/bin/bash\nexec ./decide\n',
};

test('the page lists the candidates of an ambiguous name', () => {
  expect(buildStateCards(diagramOf(FILES), null, [])[1]).toMatchObject({
    name: 'A',
    kind: 'ambiguous',
    description: 'It could mean A.md or A.sh: write the extension.',
  });
});

test('the page shows the targets of a computed name', () => {
  const routes = listPageArrows(diagramOf(FILES)).filter(({ mark }) => mark.startsWith('any'));
  expect(routes).toStrictEqual([
    { from: 's3', to: 's3a', kind: 'goto', label: 'goto', mark: 'any state: chosen at run time' },
  ]);
});

test('the legend explains an arrow to one of several candidates', () => {
  const files = { 'START.sh': '#!/bin/bash\necho "<goto>A_$1</goto>"\n', 'A_1.md': 'Stop. <result>x</result>' };
  expect(renderLegend(diagramOf(files))).toContain(
    '<span>dotted: one of the states that fit a name known in part</span>',
  );
});

test.each([
  'name that could mean several states',
  'any state: chosen at run time',
  'dashed: may make transitions that are not drawn',
  'only named in the prompt, or shown in code',
])('the legend explains: %s', (words) => {
  expect(renderLegend(diagramOf(FILES))).toContain(`<span>${words}</span>`);
  expect(renderLegend(diagramOf({ 'START.md': 'Stop. <result>x</result>' }))).not.toContain(words);
});

test('the page shows why an agent failed, and the legend explains only what is in the diagram', () => {
  const driver = new RunDriver({ files: ['START.sh', 'A.md'] }).answer('no tag at all');
  const diagram = diagramOf(
    { 'START.sh': 'echo "<goto>A</goto>"', 'A.md': 'Stop. <result>x</result>' },
    overlayOf(driver),
  );
  expect(buildStateCards(diagram, null, [])[0]?.facts).toStrictEqual([
    ['main', expect.stringMatching(/^failed: .{10}/)],
  ]);
  expect(buildStateCards(diagram, null, []).map(({ untaken }) => untaken)).toStrictEqual([false, true]);
  expect(renderLegend(diagram)).toContain('an agent failed here');
  expect(renderLegend(diagram)).toContain('no agent was here');
  expect(renderLegend(diagram)).not.toContain('an agent is here');
});

test('the legend explains worktrees, groups and joins that do not wait for all', () => {
  const files = {
    'START.md': '<fork worktree="auto" group="g">W</fork><join group="g" wait="any" cancel="true">W</join>',
    'W.md': 'Stop. <result>x</result>',
  };
  const legend = renderLegend(diagramOf(files));
  for (const words of ['worktree: the worker gets', 'group …: the join', 'wait …: the join', 'cancel: the join']) {
    expect(legend).toContain(`<span>${words}`);
    expect(renderLegend(diagramOf(FILES))).not.toContain(words);
  }
});

test('a run shows which workers an agent waits for, and who works in a worktree', () => {
  const files = { 'START.md': 'x', 'W.md': 'Stop. <result>x</result>', 'END.md': 'Stop. <result>x</result>' };
  const driver = new RunDriver({ files: Object.keys(files) }).answer(
    '<fork group="docs">W</fork><fork group="docs">W</fork><fork group="tests">W</fork><join group="docs">END</join>',
  );
  const place = { path: '/w/trees/main_w1', branch: 'raymond/run/main_w1', base: 'c', repository: '/w/.git' };
  const { counts, agents } = overlayOf(driver);
  const withTree = agents.map((agent) =>
    agent.id === 'main_w1' ? { ...agent, worktree: { kind: 'made' as const, ...place } } : agent,
  );
  const diagram = diagramOf(files, { counts, agents: withTree });
  const facts = buildStateCards(diagram, null, []).flatMap((card) => card.facts);
  expect(facts).toContainEqual(['main', 'joining: waits for 2 of 2 workers of the group docs']);
  expect(facts).toContainEqual([
    'main_w1 group=docs',
    'ready, in the worktree /w/trees/main_w1 on the branch raymond/run/main_w1',
  ]);
  expect(toMermaid(diagram)).toContain('▶ main_w1 group#61;docs (in a worktree)');
});
