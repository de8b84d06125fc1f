import { writeZip } from '../../src/workflow/write-zip.ts';

/** Broken workflows and some that only look broken: the workflow is at `wf`, `wf.yaml` or `wf.zip`. */
export interface BrokenInput {
  readonly title: string;
  readonly path: string;
  readonly files: Readonly<Record<string, string | Uint8Array>>;
}

const END = 'Say <result>x</result>.';
const OK = { 'wf/A.md': END, 'wf/B.sh': '#!/bin/bash\necho "<result>x</result>"\n' };
const TWO = 'Say <goto>A.md</goto> or <result>x</result>.';

const folderInput = (title: string, files: Readonly<Record<string, string | Uint8Array>>): BrokenInput => ({
  title,
  path: 'wf',
  files: Object.fromEntries(Object.entries({ ...OK, ...files }).map(([name, text]) => [name, text])),
});

/** Frontmatter of the first state, which is otherwise right. */
const frontmatter = (yaml: string, others: Readonly<Record<string, string>> = {}): BrokenInput =>
  folderInput(`frontmatter: ${yaml}`, { 'wf/START.md': `---\n${yaml}\n---\n${TWO}`, ...others });
const entry = (yaml: string, others: Readonly<Record<string, string>> = {}): BrokenInput =>
  frontmatter(`allowed_transitions: [{ ${yaml} }, { tag: result }]`, others);
const manifest = (yaml: string): BrokenInput =>
  folderInput(`manifest: ${yaml}`, { 'wf/START.md': TWO, 'wf/workflow.yaml': yaml });
const oneFile = (yaml: string): BrokenInput => ({
  title: `one file: ${yaml}`,
  path: 'wf.yaml',
  files: { 'wf.yaml': yaml },
});
const config = (toml: string, yaml = ''): BrokenInput =>
  folderInput(`config: ${toml} ${yaml}`, {
    '.raymond/config.toml': `[raymond]\n${toml}\n`,
    'wf/START.md': TWO,
    'wf/workflow.yaml': yaml,
  });
const zip = (title: string, files: Readonly<Record<string, string>>, path = 'wf.zip'): BrokenInput => {
  const packed = Object.entries(files).map(
    ([name, text]) => [name, { bytes: new TextEncoder().encode(text), executable: false }] as const,
  );
  return { title: `zip: ${title}`, path, files: { [path]: writeZip(new Map(packed)) } };
};

/** A hundred inputs of many kinds. */
export const BROKEN_INPUTS: readonly BrokenInput[] = [
  frontmatter('allowed_transitions: goto'),
  frontmatter('allowed_transitions: [goto]'),
  frontmatter('allowed_transitions: [[]]'),
  frontmatter('allowed_transitions: null'),
  frontmatter('allowed_transitions: [{ target: A.md }]'),
  frontmatter('allowed_transitions: [{tag:goto}]'),
  frontmatter('allowed_transitions:\n- { tag: goto, target: A.md }\n- { tag: goto, target: A.md }'),
  frontmatter('max_visits: 0'),
  frontmatter('max_visits: many'),
  frontmatter('max_visits: 1.5'),
  frontmatter('timeout: soon'),
  frontmatter('timeout: -5'),
  frontmatter('timeout: 0'),
  frontmatter('model: [a]'),
  frontmatter('model: ""'),
  frontmatter('effort: extreme'),
  frontmatter('effort: {}'),
  frontmatter('repeatable: true'),
  frontmatter('permission_mode: all'),
  frontmatter('allowed_tools: Bash, Read'),
  frontmatter('allowed_tools: [1, 2]'),
  frontmatter('disallowed_tools: { a: b }'),
  frontmatter('append_system_prompt: []'),
  frontmatter('description: [a]'),
  frontmatter('backend: pi'),
  frontmatter('unknown_key: 1'),
  frontmatter('model: a\nmodel: b'),
  frontmatter('model: "unclosed'),
  frontmatter('\tmodel: a'),
  frontmatter('- a\n- b'),
  frontmatter('just a text'),
  frontmatter('model: &a haiku\neffort: *a'),
  frontmatter('model: *gone'),
  frontmatter('force_implicit: maybe'),
  frontmatter('force_implicit: true'),
  frontmatter('force_implicit: yes\nallowed_transitions: [{ tag: goto, target: A.md }]'),
  frontmatter('force_implicit: yes\nallowed_transitions: [{ tag: goto }]'),
  frontmatter('force_implicit: yes\nallowed_transitions: [{ tag: ask, next: A.md }]'),
  frontmatter('on: { error: A.md }'),
  frontmatter('on: { error: GONE.md }'),
  frontmatter('on: { never: A.md }'),
  frontmatter('on: A.md'),
  frontmatter('stuck_after: 2'),
  frontmatter('stuck_after: -1'),
  frontmatter('retry: 1'),
  frontmatter('retry: lots'),
  frontmatter('result_schema: gone.json'),
  frontmatter('result_schema: ../x.json', { 'x.json': '{}' }),
  frontmatter('result_schema: s.json', { 'wf/s.json': '{ "type": ' }),
  frontmatter('result_schema: s.json', { 'wf/s.json': '[]' }),
  frontmatter('result_schema: { type: strnig }'),
  frontmatter('result_schema: { type: object, properties: { a: { $ref: "#/gone" } } }'),
  frontmatter('result_schema: { type: string, pattern: "(" }'),
  frontmatter('result_schema: 5'),
  frontmatter('evaluator: GONE.sh'),
  frontmatter('evaluator: [{ script: B.sh }]'),
  frontmatter('evaluator: [{ script: A.md }]'),
  frontmatter('evaluator: [{ prompt: B.sh }]'),
  frontmatter('evaluator: [{ match: "(", then: { tag: goto, target: A.md } }]'),
  frontmatter('evaluator: [{ match: TODO, then: { tag: goto, target: GONE.md } }]'),
  frontmatter('evaluator: [{ match: TODO }]'),
  frontmatter('evaluator: [{ script: B.sh, prompt: A.md }]'),
  frontmatter('evaluator: []'),
  entry('tag: gotto, target: A.md'),
  entry('tag: print'),
  entry('tag: goto, target: GONE.md'),
  entry('tag: goto, target: a/A.md'),
  entry('tag: goto, target: ""'),
  entry('tag: goto, target: [A.md]'),
  entry('tag: reset, target: A.md, stack: maybe'),
  entry('tag: call, target: A.md'),
  entry('tag: call, target: A.md, return: GONE'),
  entry('tag: fork, target: A.md, next: GONE.md'),
  entry('tag: fork, target: A.md, next: A.md, PATH: x'),
  entry('tag: fork-each, target: A.md, next: A.md, in: ""'),
  entry('tag: fork-each, target: A.md, next: A.md, in: x, as: "a b"'),
  entry('tag: join, target: A.md, wait: 0'),
  entry('tag: join, target: A.md, timeout: later'),
  entry('tag: join, target: A.md, cancel: perhaps'),
  entry('tag: ask, target: A.md'),
  entry('tag: ask, next: A.md, timeout: never'),
  entry('tag: ask, next: A.md, upload_slots: "a:image/png|"'),
  entry('tag: result, target: A.md'),
  entry('tag: result, next: A.md'),
  entry('tag: call-workflow, target: ../gone, return: A.md'),
  entry('tag: call-workflow, target: ../../../.., return: A.md'),
  entry('tag: call-workflow, target: "https://example.com/flow.zip", return: A.md'),
  entry('tag: call-workflow, target: ../lib, return: A.md', { 'lib/START.md': '---\nmax_visits: 0\n---\nx' }),
  entry('tag: call-workflow, target: ../lib, return: A.md', {
    'lib/START.md': END,
    'lib/workflow.yaml': 'backend: pi',
  }),
  entry('tag: call-workflow, target: ../lib, return: A.md', { 'lib/OTHER.md': END }),
  manifest('default_budget: free'),
  manifest('default_budget: -1'),
  manifest('input: { mode: sometimes }'),
  manifest('input: none'),
  manifest('environment: { "A B": x }'),
  manifest('vars: { "1x": y }'),
  manifest('vars: [a]'),
  manifest('workspace: here'),
  manifest('working_directory: gone'),
  manifest('requires_human_input: perhaps'),
  manifest('id: "a b"'),
  manifest('id: ../x'),
  manifest('- a'),
  manifest('unknown: 1'),
  manifest('name: a\nname: b'),
  config('on_ask = "fail"', 'requires_human_input: yes'),
  config('max_depth = 0'),
  config('budget = 1'),
  oneFile('states: {}'),
  oneFile('states: []'),
  oneFile('states:\n  START: { prompt: }\n'),
  oneFile('states:\n  START: { sh: null }\n'),
  oneFile('states:\n  START: { prompt: x, sh: y }\n'),
  oneFile('states:\n  START: Go.\n  START: Again.\n'),
  oneFile('states:\n  START: { prompt: x, allowed_transitions: [{ tag: goto, target: GONE }] }\n'),
  oneFile('states:\n  OTHER: { prompt: Say <result>x</result>. }\n'),
  oneFile('states:\n  "a/b": { prompt: Say <result>x</result>. }\n  START: { prompt: x }\n'),
  oneFile('states:\n\tSTART: x\n'),
  oneFile('name: x\nstates:\n  START: { prompt: Say <result>x</result>., max_visits: none }\n'),
  folderInput('no start', {}),
  folderInput('two starts', { 'wf/START.md': END, 'wf/START.sh': '#!/bin/bash\necho "<result>x</result>"\n' }),
  folderInput('a start that is not text', { 'wf/START.md': new Uint8Array([0xff, 0xfe, 0x00, 0x41]) }),
  folderInput('a start with a NUL', { 'wf/START.md': 'a\0b' }),
  folderInput('an empty start', { 'wf/START.md': '' }),
  folderInput('an unclosed fence', { 'wf/START.md': '---\nmodel: haiku\nGo.' }),
  folderInput('a script with broken bash', { 'wf/START.sh': '#!/bin/bash\nif true; then echo "<result>x</result>"\n' }),
  folderInput('a batch file only', { 'wf/START.bat': 'echo ^<result^>x^</result^>' }),
  zip('empty', {}),
  zip('without a start', { 'OTHER.md': END }),
  zip('a broken state', { 'START.md': '---\nmax_visits: 0\n---\nx' }),
  zip('a wrong hash', { 'START.md': END }, `wf-${'0'.repeat(64)}.zip`),
  zip('a hash that is too long', { 'START.md': END }, `wf-${'0'.repeat(65)}.zip`),
  zip('a folder in a folder', { 'a/START.md': END, 'b/START.md': END }),
  { title: 'zip: no zip at all', path: 'wf.zip', files: { 'wf.zip': 'hello' } },
];
