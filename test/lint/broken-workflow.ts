import fc from 'fast-check';

/** A workflow that may be broken in many ways: its files by path. The workflow itself is at `wf`, or at `wf.yaml`. */
export interface BrokenWorkflow {
  readonly path: 'wf' | 'wf.yaml';
  readonly files: Readonly<Record<string, string>>;
}

/** Mistakes are rare enough that some workflows have none. */
const mostly = <T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: wrong });

const name = mostly(
  fc.constantFrom('A.md', 'B.sh', 'B'),
  fc.constantFrom('START', 'A', 'GONE.md', 'a/b', '../A.md', '', 'W.bat', 'NOTES'),
);
const spec = mostly(
  fc.constantFrom('../lib', '../lib/A'),
  fc.constantFrom('../gone', '../../..', '../lib/GONE.md', 'wf', '../bad'),
);

const TAGS = ['goto', 'reset', 'call', 'function', 'fork', 'fork-each', 'join', 'compact', 'ask', 'result'];
const WORKFLOW_TAGS = ['call-workflow', 'function-workflow', 'fork-workflow', 'reset-workflow'];

/** The attributes that a tag needs. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  call: ['return'],
  function: ['return'],
  fork: ['next'],
  'fork-each': ['next', 'in'],
  ask: ['next'],
  'call-workflow': ['return'],
  'function-workflow': ['return'],
  'fork-workflow': ['next'],
};

/** Attributes with values that are right, wrong, or right elsewhere. */
const attributes = mostly<readonly (readonly string[])[]>(
  fc.constant([]),
  fc.uniqueArray(
    fc.constantFrom(
      ...[
        ['cd', 'src'],
        ['stack', 'clear'],
        ['stack', 'none'],
        ['input', '{{input}}'],
        ['model', ''],
        ['effort', 'high'],
        ['wait', 'any'],
        ['wait', '0'],
        ['timeout', '1h'],
        ['timeout', 'soon'],
        ['timeout_next', 'A.md'],
        ['in', 'items.txt'],
        ['as', 'PATH'],
        ['payload', 'YES'],
        ['upload_slots', ''],
        ['upload_bucket', 'maybe'],
        ['item', 'x'],
        ['PATH', 'x'],
        ['result', 'x'],
      ],
    ),
    { maxLength: 2, selector: ([key]) => key },
  ),
);

const entry = fc
  .tuple(
    mostly(fc.constantFrom(...TAGS, ...TAGS, ...WORKFLOW_TAGS), fc.constantFrom('gotto', 'print', '')),
    name,
    name,
    spec,
    attributes,
    mostly(fc.constant(true), fc.constant(false)),
  )
  .map(([tag, target, state, path, others, isComplete]) => {
    const hasText = (tag === 'ask' || tag === 'result') && isComplete;
    const to = tag.endsWith('-workflow') ? path : target;
    const needed = isComplete ? (NEEDED[tag] ?? []) : [];
    return {
      ...(tag !== '' && { tag }),
      ...(!hasText && isComplete && { target: to }),
      ...Object.fromEntries(needed.map((key) => [key, key === 'in' ? 'items.txt' : state])),
      ...Object.fromEntries(others),
    };
  });

const policy = mostly<unknown>(fc.array(entry, { minLength: 1, maxLength: 2 }), fc.constantFrom('goto', null, {}));

const evaluator = fc.oneof(
  name.map((file) => ({ script: file })),
  name.map((file) => ({ prompt: file })),
  entry.map((then) => ({ match: 'TODO', then })),
  entry.map((then) => ({ match: '(', then })),
  fc.constantFrom({ match: 'x' }, 'A.md', 5),
);

const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  mostly<T | null>(fc.constant(null), arbitrary);

const guards = name.map((state) => ({ error: state }));

/** Keys of the frontmatter with values that are right or wrong. */
const settings: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .tuple(
    fc.option(policy),
    rarely(fc.constantFrom(true, 'yes', false, 'maybe', 1)),
    rarely(fc.array(evaluator, { minLength: 1, maxLength: 2 })),
    rarely(guards),
    rarely(
      fc.constantFrom(
        ...[
          { model: 5 },
          { model: 'haiku' },
          { effort: [] },
          { timeout: 'soon' },
          { timeout: 90 },
          { max_visits: 0 },
          { max_visits: 3 },
          { retry: -1 },
          { stuck_after: 2 },
          { permission_mode: '' },
          { allowed_tools: [1] },
          { backend: 'pi' },
          { backend: 'claude' },
          { result_schema: 'gone.json' },
          { result_schema: { type: 'nothing' } },
          { result_schema: { type: 'object' } },
          { repeatable: 'on' },
          { unknown_key: 1 },
        ],
      ),
    ),
  )
  .map(([list, force_implicit, evaluators, on, other]) => ({
    ...(list !== null && { allowed_transitions: list }),
    ...(force_implicit !== null && { force_implicit }),
    ...(evaluators !== null && { evaluator: evaluators }),
    ...(on !== null && { on }),
    ...other,
  }));

/** Texts that are good for prompts and scripts alike. */
const body = fc.constantFrom(
  'echo "<result>x</result>"',
  'echo "<goto>$next</goto>"',
  'echo "<goto>A.md</goto>" or "<goto>GONE.md</goto>"',
  '',
);

const manifest: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .tuple(
    fc.option(mostly<unknown>(fc.constantFrom('.', 'lib'), fc.constantFrom('gone', 5)), { freq: 2 }),
    rarely(fc.constantFrom<unknown>({ git: '../repo' }, { git: '' }, 'repo')),
    rarely(
      fc.constantFrom<Readonly<Record<string, unknown>>>(
        { backend: 'pi' },
        { backend: { name: 'claude' } },
        { requires_human_input: 'auto' },
        { requires_human_input: 'sometimes' },
        { default_budget: -1 },
        { input: { mode: 'required' } },
        { vars: { PATH: 'x' } },
        { environment: { A: 'b' } },
        { id: '' },
        { colour: 'red' },
      ),
    ),
  )
  .map(([working_directory, workspace, other]) => ({
    ...(working_directory !== null && { working_directory }),
    ...(workspace !== null && { workspace }),
    ...other,
  }));

interface State {
  readonly keys: Readonly<Record<string, unknown>>;
  readonly text: string;
}

const state: fc.Arbitrary<State> = fc.record({
  keys: fc.oneof({ weight: 2, arbitrary: settings }, { weight: 1, arbitrary: fc.constant({}) }),
  text: body,
});

/** JSON is YAML; one line of it stays within the comments of a script. */
const promptOf = ({ keys, text }: State): string =>
  Object.keys(keys).length === 0 ? text : `---\n${yamlOf(keys)}\n---\n${text}`;
const scriptOf = ({ keys, text }: State): string =>
  Object.keys(keys).length === 0
    ? text
    : `#!/bin/bash\n# ---\n# ${yamlOf(keys).replaceAll('\n', '\n# ')}\n# ---\n${text}`;
const yamlOf = (keys: Readonly<Record<string, unknown>>): string =>
  Object.entries(keys)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join('\n');

const LIB = { 'lib/START.md': 'Say <result>x</result>.', 'lib/A.md': 'Say <result>x</result>.' };
const BAD = { 'bad/START.md': '---\nmax_visits: many\n---\nGo.' };

const folder: fc.Arbitrary<BrokenWorkflow> = fc
  .record({
    entry: mostly(fc.constantFrom('START.md', '1_START.md', 'START.sh'), fc.constantFrom('BEGIN.md', 'START.bat')),
    start: state,
    second: state,
    script: state,
    manifest: fc.option(manifest),
    stray: rarely(fc.constantFrom('START.bat', 'A.sh', 'NOTES.md', 'B.txt')),
    damage: rarely(fc.constantFrom('---\nmodel: [', '---\nmodel: opus\n', '---\nmodel: a\nmodel: b\n---\n')),
  })
  .map(({ entry: first, start, second, script, manifest: keys, stray, damage }) => ({
    path: 'wf' as const,
    files: {
      ...LIB,
      ...BAD,
      [`wf/${first}`]: first.endsWith('.sh') ? scriptOf(start) : promptOf(start),
      'wf/A.md': damage ?? promptOf(second),
      'wf/B.sh': scriptOf(script),
      ...(keys !== null && { 'wf/workflow.yaml': yamlOf(keys) }),
      ...(stray !== null && { [`wf/${stray}`]: stray === 'NOTES.md' ? promptOf(second) : 'echo' }),
    },
  }));

const oneFile: fc.Arbitrary<BrokenWorkflow> = fc
  .record({
    start: state,
    second: state,
    manifest,
    sh: mostly<string | null>(fc.constant('echo'), fc.constantFrom(null, '')),
  })
  .map(({ start, second, manifest: keys, sh }) => ({
    path: 'wf.yaml' as const,
    files: {
      ...LIB,
      ...BAD,
      'wf.yaml': yamlOf({
        ...keys,
        states: {
          START: { prompt: start.text, ...start.keys },
          A: { prompt: second.text, ...second.keys },
          B: { sh },
        },
      }),
    },
  }));

/** Workflows of all kinds, most of them broken. */
export const brokenWorkflow: fc.Arbitrary<BrokenWorkflow> = fc.oneof(
  { weight: 3, arbitrary: folder },
  { weight: 1, arbitrary: oneFile },
);
