import { describe, expect, test } from 'vitest';
import { isStateShape } from '../../src/drawing/diagram.ts';
import { RunDriver } from '../core/run-driver.ts';
import { arrowsIn, diagramOf, overlayOf } from './run-overlay.ts';

const policy = (...entries: string[]): string =>
  `---\nallowed_transitions:\n${entries.map((entry) => `  - { ${entry} }\n`).join('')}---\nx`;
const END = 'Stop. <result>done</result>';

describe('the diagram of a workflow', () => {
  test("has an arrow for each tag, for the return of a call, and for the next state of a worker's parent", () => {
    const files = {
      'START.md': policy(
        'tag: call, target: A, return: B',
        'tag: fork, target: W, next: B',
        'tag: reset, target: START',
      ),
      'A.md': END,
      'B.md': policy('tag: goto, target: START'),
      'W.md': END,
    };
    expect(arrowsIn(diagramOf(files))).toStrictEqual([
      '(begin) –begin→ START.md',
      'START.md –call→ A.md',
      'START.md –return→ B.md',
      'START.md –fork→ W.md',
      'START.md –next→ B.md',
      'START.md –reset→ START.md',
      'A.md –back→ B.md "result"',
      'B.md –goto→ START.md "goto (implicit)"',
      'W.md –result→ (end)',
    ]);
  });

  test('distinguishes returns if a state calls several others', () => {
    const files = {
      'START.md': policy('tag: call, target: A, return: END', 'tag: function, target: B, return: END'),
      'A.md': END,
      'B.md': END,
      'END.md': END,
    };
    expect(arrowsIn(diagramOf(files))).toContain('START.md –return→ END.md "return from A.md, return from B.md"');
  });

  test('shows where a result leads: to the end, to a caller, or to either', () => {
    const files = { 'START.md': policy('tag: call, target: START, return: START', 'tag: result') };
    expect(arrowsIn(diagramOf(files)).slice(-2)).toStrictEqual([
      'START.md –back→ START.md "result"',
      'START.md –result→ (end)',
    ]);
  });

  test('shows an empty circle for a result that returns to many places, and counts there', () => {
    const callers = [1, 2, 3, 4, 5].map((n) => `tag: call, target: A, return: R${n}`);
    const files = {
      'START.md': policy(...callers),
      'A.md': END,
      ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`R${n}.md`, END])),
    };
    const driver = new RunDriver({ files: Object.keys(files) }).answer(
      '<call return="R2">A</call>',
      '<result>1</result>',
    );
    const ofCallee = (overlay?: ReturnType<typeof overlayOf>) =>
      arrowsIn(diagramOf(files, overlay)).filter((arrow) => arrow.startsWith('A.md'));
    expect(ofCallee()).toStrictEqual(['A.md –back→ (caller) "result"']);
    expect(ofCallee(overlayOf(driver))).toStrictEqual(['A.md –back→ (caller) "result" ×1']);
  });

  test('shows where a result returns to in a part that the entry does not reach', () => {
    const files = {
      'START.md': END,
      'LOST.md': policy('tag: call, target: SUB, return: BACK'),
      'SUB.md': policy('tag: goto, target: LAST'),
      'LAST.md': END,
      'BACK.md': END,
    };
    expect(
      arrowsIn(diagramOf(files)).filter((arrow) => arrow.includes('"result"') || arrow.includes('end')),
    ).toStrictEqual(['START.md –result→ (end)', 'BACK.md –result→ (end)', 'LAST.md –back→ BACK.md "result"']);
  });

  test('writes the text that a policy demands of a result on its arrow', () => {
    const files = {
      'START.md': policy('tag: result, payload: "YES"', 'tag: result, payload: "NO"', 'tag: goto, target: ONE'),
      'ONE.md': policy(`tag: result, payload: ${'long '.repeat(20)}`),
    };
    expect(arrowsIn(diagramOf(files)).filter((arrow) => arrow.includes('result'))).toStrictEqual([
      'START.md –result→ (end) "result YES, result NO"',
      'ONE.md –result→ (end) "result long long long long lon… (implicit)"',
    ]);
    expect(diagramOf(files).transitions).toBe(4);
  });

  test('shows missing states and targets that the agent chooses', () => {
    const files = { 'START.md': 'Either <goto>GHOST.md</goto>, or <call return="START">{{which}}</call>' };
    const diagram = diagramOf(files);
    expect(diagram.shapes.filter(isStateShape).map(({ state, kind }) => `${state} ${kind}`)).toStrictEqual([
      'START.md prompt',
      'GHOST.md missing',
    ]);
    expect(arrowsIn(diagram)).toStrictEqual([
      '(begin) –begin→ START.md',
      'START.md –goto→ GHOST.md',
      'START.md –call→ (any)',
      'START.md –return→ START.md',
    ]);
  });

  test('shows a transition without a target', () => {
    expect(arrowsIn(diagramOf({ 'START.md': '<fork>START</fork>' })).at(-1)).toBe('START.md –next→ (targetless)');
  });

  test('shows a state that is only named as mentioned', () => {
    const files = { 'START.md': 'When this is done, B.md is next.', 'B.md': END };
    expect(arrowsIn(diagramOf(files))).toContain('START.md –mentioned→ B.md "named"');
  });

  test('shows a tag in the code of a sentence as mentioned', () => {
    const files = { 'START.md': 'Say `<goto>B.md</goto>`, or when done <result>x</result>.', 'B.md': END };
    expect(arrowsIn(diagramOf(files))).toContain('START.md –mentioned→ B.md "goto (in code)"');
  });

  test('shows an ambiguous name with its candidates', () => {
    const files = { 'START.md': 'Then <goto>A</goto>', 'A.md': END, 'A.sh': '#!/bin/bash\necho "<result>x</result>"' };
    expect(diagramOf(files).shapes.filter(isStateShape)[1]).toMatchObject({
      state: 'A',
      kind: 'ambiguous',
      couldBe: ['A.md', 'A.sh'],
    });
  });

  test('shows the states that match a partly known name', () => {
    const files = { 'START.sh': '#!/bin/bash\necho "<goto>B_$1</goto>"', 'B_1.md': END, 'B_2.md': END };
    expect(arrowsIn(diagramOf(files))).toStrictEqual([
      '(begin) –begin→ START.sh',
      'START.sh –goto→ B_1.md "goto (computed)"',
      'START.sh –goto→ B_2.md "goto (computed)"',
      'B_1.md –result→ (end)',
      'B_2.md –result→ (end)',
    ]);
  });

  test('has one arrow for a goto that is the next state of the parent of workers', () => {
    const files = {
      'START.md': 'Say <fork x="1">W.md</fork> for each, and <goto>NEXT.md</goto>, or <goto>W.md</goto>.',
      'NEXT.md': END,
      'W.md': 'If so <fork next="NEXT">NEXT</fork>, else <goto>NEXT</goto>.',
    };
    expect(arrowsIn(diagramOf(files)).filter((arrow) => !arrow.includes('result'))).toStrictEqual([
      '(begin) –begin→ START.md',
      'START.md –fork→ W.md',
      'START.md –next→ NEXT.md "goto (next)"',
      'START.md –next→ W.md "goto (next)"',
      'W.md –fork→ NEXT.md',
      'W.md –next→ NEXT.md',
      'W.md –goto→ NEXT.md',
    ]);
  });

  test('writes on its arrow that a worker gets a worktree or belongs to a group, and which workers a join waits for', () => {
    const files = {
      'START.sh': [
        '#!/bin/bash',
        `echo '<fork worktree="auto" group="docs">W</fork><fork group="tests">W</fork><fork worktree="no">W</fork>'`,
        `echo '<join group="docs">MERGE</join>'`,
      ].join('\n'),
      'MERGE.md': policy('tag: join, target: LAST, wait: "2", cancel: "true", timeout: 1h, timeout_next: LATE'),
      'LAST.md':
        '<fork-each in="items.txt" group="{{name}}" worktree="auto">W.md</fork-each><join wait="any">LATE</join>',
      'LATE.md': END,
      'W.md': END,
    };
    const diagram = diagramOf(files);
    expect(arrowsIn(diagram).filter((arrow) => /fork|join/.test(arrow))).toStrictEqual([
      'START.sh –fork→ W.md "fork (worktree, group docs), fork (group tests), fork"',
      'START.sh –join→ MERGE.md "join (group docs)"',
      'MERGE.md –join→ LAST.md "join (implicit, wait 2, cancel)"',
      'MERGE.md –join→ LATE.md "join (implicit, timeout)"',
      'LAST.md –fork→ W.md "fork-each (worktree, group …)"',
      'LAST.md –join→ LATE.md "join (wait any)"',
    ]);
    expect(diagram.arrows.flatMap(({ terms }) => terms)).toStrictEqual([
      'worktree',
      'group',
      'group',
      'wait',
      'cancel',
      'worktree',
      'group',
      'wait',
    ]);
  });

  test('has no start if the workflow has none', () => {
    expect(arrowsIn(diagramOf({ 'A.md': END }))).toStrictEqual(['A.md –result→ (end)']);
  });
});

describe('the diagram of a run', () => {
  const files = {
    'START.md': policy('tag: call, target: A, return: B', 'tag: fork, target: W, next: B'),
    'A.md': END,
    'B.md': 'Stop. <goto>START</goto> or <result>x</result>',
    'W.md': END,
    'NEVER.md': END,
  };
  const workflow = { files: ['START.md', 'A.md', 'B.md', 'W.md', 'OLD.md'] };

  test('counts transitions to computed names, and shows their actual states', () => {
    const open = {
      'START.md': policy('tag: goto', 'tag: goto, target: B'),
      'A.md': 'x <goto>START</goto>',
      'B.md': END,
    };
    const driver = new RunDriver({ files: Object.keys(open) }).answer(
      '<goto>A</goto>',
      '<goto>START</goto>',
      '<goto>A</goto>',
      '<goto>START</goto>',
      '<goto>B</goto>',
    );
    const diagram = diagramOf(open, overlayOf(driver));
    expect(arrowsIn(diagram).filter((arrow) => arrow.startsWith('START.md'))).toStrictEqual([
      'START.md –goto→ (any) ×2',
      'START.md –goto→ B.md ×1',
      'START.md –goto→ A.md ×2',
    ]);
    expect(diagram.shapes).toContainEqual(expect.objectContaining({ kind: 'any', passed: true }));
  });

  test('shows the count of each arrow, and the activities of agents in each state', () => {
    const driver = new RunDriver(workflow).answer(
      '<call return="B">A</call>',
      '<result>1</result>',
      '<goto>START</goto>',
      '<fork next="B">W</fork><fork next="B">W</fork>',
    );
    driver.runTurn('main_w1', '<result>w</result>').answer('<result>end</result>');
    const diagram = diagramOf(files, overlayOf(driver));
    expect(arrowsIn(diagram)).toStrictEqual([
      '(begin) –begin→ START.md ×1',
      'START.md –call→ A.md ×1',
      'START.md –return→ B.md ×1',
      'START.md –fork→ W.md ×2',
      'START.md –next→ B.md ×1',
      'A.md –back→ B.md "result" ×1',
      'B.md –goto→ START.md ×1',
      'B.md –result→ (end) ×1',
      'W.md –result→ (end) ×1',
      'NEVER.md –result→ (end) ×0',
    ]);
    const states = diagram.shapes.filter(isStateShape);
    expect(states.map(({ state, tally: done }) => `${state} ${done?.visits ?? '-'}`)).toStrictEqual([
      'START.md 2',
      'A.md 1',
      'B.md 2',
      'W.md 1',
      'NEVER.md -',
    ]);
    expect(
      states.flatMap(({ state, agents }) => agents.map(({ id, doing }) => `${id} ${doing} ${state}`)),
    ).toStrictEqual(['main_w2 ready W.md']);
  });

  test('counts a goto at its arrow, with workers and without', () => {
    const forks = {
      'START.md': '<fork>W.md</fork> and <goto>B.md</goto>',
      'B.md': '<goto>START.md</goto>',
      'W.md': END,
    };
    const driver = new RunDriver({ files: Object.keys(forks) }).answer(
      '<fork>W</fork><goto>B</goto>',
      '<goto>START</goto>',
      '<goto>B</goto>',
    );
    expect(arrowsIn(diagramOf(forks, overlayOf(driver))).filter((arrow) => arrow.startsWith('START'))).toStrictEqual([
      'START.md –fork→ W.md ×1',
      'START.md –next→ B.md "goto (next)" ×2',
    ]);
  });

  test('shows states that no longer exist, and transitions that the workflow does not show', () => {
    const driver = new RunDriver(workflow).answer('<goto>OLD</goto>', '<goto>W</goto>');
    const diagram = diagramOf(files, overlayOf(driver));
    expect(diagram.shapes.filter(isStateShape).at(-1)).toMatchObject({
      state: 'OLD.md',
      kind: 'gone',
      tally: { visits: 1 },
    });
    expect(arrowsIn(diagram).filter((arrow) => arrow.endsWith('unforeseen'))).toStrictEqual([
      'START.md –goto→ OLD.md ×1 unforeseen',
      'OLD.md –goto→ W.md ×1 unforeseen',
    ]);
  });

  test('shows an agent in a state that no longer exists, even if it never started there', () => {
    const driver = new RunDriver(workflow).answer('<goto>OLD</goto>');
    const gone = diagramOf(files, overlayOf(driver)).shapes.filter(isStateShape).at(-1);
    expect(gone).toMatchObject({
      state: 'OLD.md',
      kind: 'gone',
      tally: null,
      agents: [{ id: 'main', doing: 'ready' }],
    });
  });
});
