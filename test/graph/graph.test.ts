import { describe, expect, test } from 'vitest';
import { buildGraph } from '../../src/graph/build.ts';
import type { Edge } from '../../src/graph/graph.ts';
import { bash, END, policy } from '../lint/mistakes/check.ts';
import { type Files, sourceOf } from '../lint/source-of.ts';

const graphOf = (files: Files) => buildGraph(sourceOf(files));

/** An edge in short: what it says, where it is said and why it counts. */
function show({ from, tag, to, return: back, next, at, origin }: Edge): string {
  const names = [to, back, next].map((target) => {
    if (target === null) return undefined;
    return target.kind === 'state' ? target.file : target.kind === 'any' ? 'any' : `no ${target.name}`;
  });
  const [target = 'end', ...others] = names.filter((each) => each !== undefined);
  return `${from}:${at.line}:${at.column} ${origin} ${tag} ${[target, ...others].join(', ')}`;
}

const edges = (files: Files): readonly string[] => graphOf(files).edges.map(show);

describe('the transitions of a state', () => {
  test('are those of its policy, regardless of its text', () => {
    const text = 'Not <goto>END</goto>, but <result>x</result>';
    const entries = ['tag: call, target: A, return: END', 'tag: fork, target: A', 'tag: result'];
    expect(edges({ 'START.md': policy(entries, text), 'A.md': END, 'END.md': END }).slice(2)).toStrictEqual([
      'START.md:3:5 policy call A.md, END.md',
      'START.md:4:5 policy fork A.md, any',
      'START.md:5:5 policy result end',
    ]);
  });

  test('are implicit if there is only one', () => {
    expect(edges({ 'START.md': policy(['tag: reset, target: START'], 'x') })).toStrictEqual([
      'START.md:3:5 implicit reset START.md',
    ]);
  });

  test('are those that the text mentions if there is no policy, each once', () => {
    const text =
      '---\nmodel: opus\n---\nIf so <goto>END</goto>,\nor again <goto>END</goto>, else <call return="GHOST">{{x}}</call>.';
    expect(edges({ 'START.md': text, 'END.md': END })).toStrictEqual([
      'END.md:1:31 text result end',
      'START.md:4:7 text goto END.md',
      'START.md:5:33 text call any, no GHOST',
    ]);
  });

  test('are guesses if they are in code beside others that are not', () => {
    const text =
      'Say `<goto>A.md</goto>`, `<goto>B.md</goto>`, `<goto>GHOST</goto>` or <goto>B.md</goto>.\n```\n<goto>C.md</goto>\n```\n';
    expect(edges({ 'START.md': text, 'A.md': END, 'B.md': END, 'C.md': END }).slice(3)).toStrictEqual([
      'START.md:1:71 text goto B.md',
      'START.md:1:6 mentioned goto A.md',
      'START.md:3:1 mentioned goto C.md',
    ]);
  });

  test('are those that a script prints, forks with the goto beside them', () => {
    const script = bash('for x in *; do', '  echo "<fork x=\'$x\'>W</fork>"', 'done', 'echo "<goto>$next</goto>"');
    expect(edges({ 'START.sh': script, 'W.md': END })).toStrictEqual([
      'START.sh:3:9 text fork W.md, any',
      'START.sh:5:7 text goto any',
      'W.md:1:31 text result end',
    ]);
  });

  test('combine the forks of a script only with the goto on the same path', () => {
    const script = bash(
      'if [ ! -s list ]; then echo "<goto>W</goto>"; exit; fi',
      'while read -r x; do echo "<fork x=\'$x\'>W</fork>"; done < list',
      'echo "<goto>E</goto>"',
    );
    expect(edges({ 'START.sh': script, 'W.md': END, 'E.md': END }).slice(1, 4)).toStrictEqual([
      'START.sh:2:30 text goto W.md',
      'START.sh:3:27 text fork W.md, E.md',
      'START.sh:4:7 text goto E.md',
    ]);
  });

  test('are found in batch files and PowerShell, too', () => {
    const files = {
      'START.bat': '@echo off\r\nrem ^<goto^>A^</goto^>\r\necho ^<goto^>B^</goto^>\r\n',
      'B.ps1': '# <goto>A</goto>\nWrite-Output "<call return=`"$next`">C</call>"\n',
      'C.md': END,
    };
    const graph = buildGraph(sourceOf(files, { platform: 'windows' }));
    expect(graph.edges.map(show)).toStrictEqual([
      'B.ps1:2:15 text call C.md, any',
      'C.md:1:31 text result end',
      'START.bat:3:7 text goto B.ps1',
    ]);
  });
});

describe('a partly known name', () => {
  const STYLES = { 'STYLE_go.md': END, 'STYLE_rust.sh': bash('echo "<result>x</result>"'), 'OTHER.md': END };
  const first = (files: Files, count: number) =>
    edges(files)
      .filter((edge) => edge.startsWith('START'))
      .slice(0, count);

  test('leads to the matching states, in a script', () => {
    expect(first({ ...STYLES, 'START.sh': bash('echo "<goto>STYLE_${1}</goto>"') }, 3)).toStrictEqual([
      'START.sh:2:7 partial-name goto STYLE_go.md',
      'START.sh:2:7 partial-name goto STYLE_rust.sh',
    ]);
    expect(first({ ...STYLES, 'START.sh': bash('echo "<goto>STYLE_$1.md</goto>"') }, 3)).toStrictEqual([
      'START.sh:2:7 partial-name goto STYLE_go.md',
    ]);
    expect(first({ ...STYLES, 'START.sh': bash('echo "<goto>${1}_go</goto>"') }, 3)).toStrictEqual([
      'START.sh:2:7 partial-name goto STYLE_go.md',
    ]);
  });

  test('leads to the matching states, in a prompt', () => {
    const text = 'When done <call return="OTHER_{{x}}">STYLE_{{ lang }}.md</call>.';
    expect(first({ ...STYLES, 'OTHER_1.md': END, 'OTHER_2.md': END, 'START.md': text }, 3)).toStrictEqual([
      'START.md:1:11 partial-name call STYLE_go.md, OTHER_1.md',
      'START.md:1:11 partial-name call STYLE_go.md, OTHER_2.md',
    ]);
  });

  test("is possible for the next state of a worker's parent", () => {
    const script = bash('echo "<fork>OTHER</fork>"', 'echo "<goto>STYLE_$1</goto>"');
    expect(first({ ...STYLES, 'START.sh': script }, 2)).toStrictEqual([
      'START.sh:2:7 text fork OTHER.md, STYLE_go.md',
      'START.sh:2:7 text fork OTHER.md, STYLE_rust.sh',
    ]);
  });

  test('leads anywhere if only its ending is known', () => {
    expect(first({ ...STYLES, 'START.sh': bash('echo "<goto>$1.md</goto>"') }, 3)).toStrictEqual([
      'START.sh:2:7 text goto any',
    ]);
  });

  test('leads nowhere if no state matches', () => {
    expect(first({ ...STYLES, 'START.sh': bash('echo "<goto>FORMAT_$1.md</goto>"') }, 3)).toStrictEqual([
      'START.sh:2:7 text goto no FORMAT_….md',
    ]);
  });
});

test('a policy without a target also has the full tags of its prompt', () => {
  const text = 'Continue with <goto>A.md</goto> or <goto>B</goto>, or say <goto>STATE</goto>, not `<goto>C.md</goto>`.';
  const files = { 'START.md': policy(['tag: goto', 'tag: result'], text), 'A.md': END, 'B.md': END, 'C.md': END };
  expect(edges(files).slice(3)).toStrictEqual([
    'START.md:3:5 policy goto any',
    'START.md:6:15 text goto A.md',
    'START.md:6:36 text goto B.md',
    'START.md:4:5 policy result end',
  ]);
});

test('an ambiguous name is a separate node, with its candidates', () => {
  const files = { 'START.md': 'Then <goto>A</goto>.', 'A.md': END, 'A.sh': bash('echo "<result>x</result>"') };
  expect(graphOf(files).nodes.at(-1)).toStrictEqual({
    state: 'A',
    kind: 'missing',
    maxVisits: null,
    maxVisitsPer: 'agent',
    description: null,
    open: false,
    couldBe: ['A.md', 'A.sh'],
  });
});

test('the nodes are the states and the missing states', () => {
  const files = {
    'START.md': `---\nmax_visits: 3\ndescription: first\n---\nThen <goto>GHOST</goto>.`,
    'A.sh': './x\n',
    'B.bat': '',
    'C.md': new Uint8Array([0xff]),
  };
  expect(graphOf(files)).toMatchObject({
    name: 'example',
    entry: 'START.md',
    nodes: [
      { state: 'A.sh', kind: 'script', maxVisits: null, description: null, open: true },
      { state: 'START.md', kind: 'prompt', maxVisits: 3, description: 'first', open: false },
      { state: 'C.md', kind: 'prompt', maxVisits: null, description: null, open: true },
      { state: 'GHOST', kind: 'missing', maxVisits: null, description: null, open: false },
    ],
  });
});
