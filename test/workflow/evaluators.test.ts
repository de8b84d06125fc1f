import { describe, expect, test } from 'vitest';
import { parsePrompt } from '../../src/workflow/prompt-file.ts';
import { parseStateFile } from '../../src/workflow/state-file.ts';
import { openWorkflow } from '../../src/workflow/workflow.ts';
import { temporaryFolders } from './temp.ts';

const folderOf = temporaryFolders();

const read = (yaml: string) => parsePrompt('START.md', `---\n${yaml}\n---\nbody`, 'unix');
const messages = (yaml: string): readonly string[] =>
  read(yaml).findings.map(({ level, line, column, message }) => `${level} ${line}:${column} ${message}`);

test('a list of evaluators is read with its positions', () => {
  const { frontmatter, findings } = read(`evaluator:
  - { match: "TODO|FIXME", then: { tag: goto, target: FIX } }
  - { unless: ok, then: { tag: result, payload: no } }
  - { script: GATE.sh }
  - { prompt: JUDGE.md, model: Haiku, effort: LOW }`);
  expect(findings).toStrictEqual([]);
  expect(frontmatter.evaluators).toStrictEqual([
    {
      kind: 'pattern',
      pattern: 'TODO|FIXME',
      overridesOn: 'match',
      instead: { tag: 'goto', target: 'FIX', attributes: {} },
    },
    {
      kind: 'pattern',
      pattern: 'ok',
      overridesOn: 'mismatch',
      instead: { tag: 'result', target: null, attributes: {}, payload: 'no' },
    },
    { kind: 'script', file: 'GATE.sh' },
    { kind: 'prompt', file: 'JUDGE.md', model: 'haiku', effort: 'low' },
  ]);
  expect(frontmatter.evaluatorPositions[0]).toMatchObject({
    at: { line: 3, column: 5 },
    keys: { match: { line: 3, column: 14 }, 'then.target': { line: 3, column: 55 } },
  });
});

test('a single evaluator needs no list, and a script may have one, too', () => {
  expect(read('evaluator: { script: GATE.sh }').frontmatter.evaluators).toStrictEqual([
    { kind: 'script', file: 'GATE.sh' },
  ]);
  const script = '#!/bin/bash\n# ---\n# evaluator: { prompt: JUDGE.md }\n# ---\necho "<result>x</result>"\n';
  const source = parseStateFile('START.sh', new TextEncoder().encode(script), 'unix');
  expect(source.kind === 'state' && source.state.rules.evaluators).toMatchObject([{ kind: 'prompt', model: null }]);
});

describe('what cannot be read is an error', () => {
  test.each([
    ['evaluator: JUDGE.md', /^error 2:12 an entry of `evaluator` must be `\{ match: .*, not the text `JUDGE.md`$/],
    ['evaluator: [5]', /^error 2:13 an entry of `evaluator` must be .*, not the number `5`$/],
    ['evaluator: { model: haiku }', /^error 2:12 an entry of `evaluator` has one of .*: none of them is here; write/],
    ['evaluator: { script: A.sh, prompt: B.md }', /here are `script` and `prompt`; write/],
    ['evaluator: { script: A.sh, model: opus }', /^error 2:28 `model` has no meaning beside `script`: remove it$/],
    ['evaluator: { prompt: A.md, then: { tag: goto } }', /^error 2:28 `then` has no meaning beside `prompt`/],
    ['evaluator: { match: a }', /^error 2:12 an evaluator with `match` needs `then`: add `then: \{ tag: goto/],
    ['evaluator: { match: a, then: FIX }', /^error 2:30 `then` must be a mapping such as .*, not the text `FIX`$/],
    ['evaluator: { match: " ", then: { tag: goto } }', /^error 2:21 `match` is empty: give it a value$/],
    ['evaluator: { script: }', /^error 2:14 `script` is empty: give it a value$/],
    ['evaluator: { prompt: 5 }', /^error 2:22 `prompt` must be a text, not the number `5`$/],
    ['evaluator: { script: A.sh, modle: opus }', /^warning 2:28 the key `modle` is unknown and has no effect/],
  ])('%j', (yaml, message) => {
    expect(messages(yaml)).toStrictEqual([expect.stringMatching(message)]);
  });
});

describe('what could never be done keeps the workflow from being opened', () => {
  const POLICY = 'allowed_transitions: [{ tag: goto, target: DONE }]';
  test.each([
    ['{ match: "(", then: { tag: goto, target: DONE } }', 'START.md:3:21: `match` is no regular expression: Invalid'],
    ['{ match: a, then: { tag: goto } }', '`then` must say all of its transition: give every state that it leads to'],
    ['{ match: a, then: { tag: result } }', '`then` must say all of its transition: give its text as `payload`'],
    ['{ match: a, then: { tag: goto, target: DON } }', 'START.md:3:51: `target`: there is no state `DON`'],
    [
      '{ match: a, then: { tag: goto, target: START } }',
      '`allowed_transitions` does not permit the transition of `then`',
    ],
    ['{ script: GATE.sh }', 'START.md:3:22: `script`: there is no state `GATE.sh`'],
    ['{ script: DONE }', '`script`: DONE.md is a prompt: write `prompt: DONE.md`'],
    ['{ prompt: RUN }', '`prompt`: RUN.sh is a script: write `script: RUN.sh`'],
  ])('%s', async (evaluator, message) => {
    const folder = folderOf({
      'START.md': `---\n${POLICY}\nevaluator: ${evaluator}\n---\nWork.\n`,
      'DONE.md': 'Answer <result>x</result>.\n',
      'RUN.sh': '#!/bin/bash\necho "<result>x</result>"\n',
    });
    await expect(openWorkflow(folder, 'unix')).rejects.toThrow(message);
  });

  test('not if the policy permits the same state under another name', async () => {
    const evaluator = 'evaluator: { match: a, then: { tag: goto, target: DONE.md, input: "{{state}}" } }';
    const folder = folderOf({
      'START.md': `---\n${POLICY}\n${evaluator}\n---\nWork.\n`,
      'DONE.md': 'Answer <result>x</result>.\n',
    });
    await expect(openWorkflow(folder, 'unix')).resolves.toMatchObject({ findings: [] });
  });
});
