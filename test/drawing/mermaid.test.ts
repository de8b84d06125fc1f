import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toMermaid } from '../../src/drawing/mermaid.ts';
import { RunDriver } from '../core/run-driver.ts';
import { HOSTILE_FILES } from './hostile.ts';
import { diagramOf, overlayOf } from './run-overlay.ts';

const FILES = {
  'START.md':
    '---\nmax_visits: 3\ndescription: Begin\nallowed_transitions: [{ tag: call, target: A, return: B }]\n---\nx',
  'A.md': 'Stop. <result>x</result>',
  'B.sh': '#!/bin/bash\necho "<fork next=\'GHOST\'>W</fork>"',
  'W.md': 'Stop. <result>x</result>',
};

describe('as Mermaid', () => {
  test('a workflow is a flow chart', () => {
    expect(toMermaid(diagramOf(FILES))).toBe(`flowchart TD
  s0["START.md<br/>Begin<br/>at most 3×"]
  s1["A.md"]
  s2{{"B.sh"}}
  s3["W.md"]
  s4["GHOST<br/>missing"]:::missing
  begin((" "))
  s3e((("end")))
  begin --> s0
  s0 -->|"call (implicit)"| s1
  s0 -.->|"return"| s2
  s1 -.->|"result"| s2
  s2 ==>|"fork"| s3
  s2 -.->|"next"| s4
  s3 -->|"result"| s3e
  classDef missing stroke:#c00,color:#c00,stroke-dasharray:5 3
`);
  });

  test('ambiguous, computed and unknown targets are distinguished', () => {
    const files = {
      'START.md': 'If so <goto>A</goto>, else <goto>B</goto>.',
      'A.md': 'Stop. <result>x</result>',
      'A.sh': '#!/bin/bash\necho "<goto>$(cat next)</goto>"\n',
      'B.sh': '#!/bin/bash\nexec ./decide\n',
    };
    const text = toMermaid(diagramOf(files));
    expect(text).toContain('s1["A<br/>ambiguous#58; A.md or A.sh"]:::missing\n');
    expect(text).toContain('s3a(["any state"]):::open\n');
    expect(text).toContain('s4{{"B.sh"}}:::open\n');
  });

  test('a run is shown as counts and positions of agents', () => {
    const driver = new RunDriver({ files: ['START.md', 'A.md', 'B.sh', 'W.md'] });
    driver.answer({ text: '<call return="B">A</call>', cost: { kind: 'reported', micros: 310_000 } }).begin('main');
    const text = toMermaid(diagramOf(FILES, overlayOf(driver)));
    expect(text).toContain('s1["A.md<br/>1 visit, 0.0s<br/>▶ main"]:::here');
    expect(text).toContain('s0["START.md<br/>Begin<br/>at most 3×<br/>1 visit, 0.0s, $0.31"]\n');
    expect(text).toContain('s3["W.md"]:::unvisited');
    expect(text).toContain('s0 -->|"call (implicit) ×1"| s1');
    expect(text).toContain('s3 -->|"result"| s3e');
  });

  test('failed agents are marked', () => {
    const driver = new RunDriver({ files: ['B.sh'] }).answer('nothing');
    expect(toMermaid(diagramOf(FILES, overlayOf(driver)))).toContain(
      's2{{"B.sh<br/>1 visit, 0.0s<br/>✗ main"}}:::failed',
    );
  });
});

/** Every line that can be there; no name gets out of its quotes. */
const LABEL = '"(?:[\\p{L}\\p{N} .,_()×$▶✗-]|#\\d+;|<br/>)*"';
const LINE = new RegExp(
  `^(?:flowchart TD|  classDef \\w+ [\\w:#,. -]+|  \\w+[[({]+${LABEL}[\\])}]+(?::::\\w+)?|  \\w+ (?:-->|==>|-\\.->)(?:\\|${LABEL}\\|)? \\w+)$`,
  'u',
);

const linesOf = (files: Readonly<Record<string, string>>): readonly string[] =>
  toMermaid(diagramOf(files)).trimEnd().split('\n');

test('no name can escape its label', () => {
  expect(linesOf(HOSTILE_FILES).filter((line) => !LINE.test(line))).toStrictEqual([]);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (name) => {
      const files = { 'START.md': `<goto>${name}</goto>`, [`${name}.md`]: 'x' };
      expect(linesOf(files).filter((line) => !LINE.test(line))).toStrictEqual([]);
    }),
  );
});

test.each([
  ['- a.md', '"#45; a.md"'],
  ['1. list.md', '"1#46; list.md"'],
  ['end.md', '"end.md"'],
])('a state named %s is neither a list nor a keyword', (name, label) => {
  const drawn = toMermaid(diagramOf({ 'START.md': `Then <goto>${name}</goto>.`, [name]: 'Stop. <result>x</result>' }));
  expect(drawn).toContain(`[${label}]`);
});
