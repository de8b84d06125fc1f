import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import type { Event } from '../../src/core/run/event.ts';
import { getAgent, newRun, type Run } from '../../src/core/run/run.ts';
import { step } from '../../src/core/step.ts';
import { due } from '../../src/core/turns/due.ts';
import { sourceScope, type WorkflowSource } from '../../src/graph/workflow-source.ts';
import { inputText } from '../../src/language/position.ts';
import { lintSource } from '../../src/lint/lint.ts';
import { sourceOf } from './source-of.ts';

/*
 * What lint says of a workflow, and what the interpreter does with it. The workflows have prompts with and without policies,
 * forced transitions and scripts; canned answers are the tags that a text has, those that its policy permits, and none.
 */

const STATES = ['START.md', 'A.md', 'B.sh', 'C.md'] as const;
const target = fc.constantFrom('A', 'A.md', 'B.sh', 'C.md', 'START.md');
const anyTarget = fc.oneof({ weight: 6, arbitrary: target }, { weight: 1, arbitrary: fc.constant('GONE.md') });

interface Entry {
  readonly tag: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const entryOf = (state: fc.Arbitrary<string>): fc.Arbitrary<Entry> =>
  fc
    .tuple(
      fc.constantFrom('goto', 'goto', 'reset', 'call', 'function', 'fork', 'result'),
      state,
      target,
      fc.boolean(),
      fc.boolean(),
    )
    .map(([tag, body, other, hasInput, hasVariable]) => ({
      tag,
      body: tag === 'result' ? 'done' : body,
      attributes: {
        ...((tag === 'call' || tag === 'function') && { return: other }),
        ...(tag === 'fork' && { next: other, ...(hasVariable && { x: '1' }) }),
        ...(tag !== 'result' && hasInput && { input: 'i' }),
      },
    }));

const tagOf = ({ tag, body, attributes }: Entry): string =>
  `<${tag}${Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${value}"`)
    .join('')}>${body}</${tag}>`;

const yamlOf = ({ tag, body, attributes }: Entry): string =>
  JSON.stringify({ tag, ...(tag === 'result' ? {} : { target: body }), ...attributes });

interface GeneratedState {
  readonly policy: readonly Entry[];
  readonly isForced: boolean;
  readonly tags: readonly Entry[];
  readonly uses: string;
}

const stateOf = (maxTags: number): fc.Arbitrary<GeneratedState> =>
  fc.record({
    policy: fc.array(entryOf(target), { maxLength: 2 }),
    isForced: fc.boolean(),
    tags: fc.array(entryOf(anyTarget), { maxLength: maxTags }),
    uses: fc.constantFrom('', '{{input}}', '{{x}}'),
  });

/** What is written for a state, and the answers that are tried in it. */
interface WrittenState {
  readonly text: string;
  readonly answers: readonly string[];
}

function writePrompt({ policy, isForced, tags, uses }: GeneratedState): WrittenState {
  const isForcible = isForced && policy.length === 1 && policy[0]?.tag !== 'result';
  const list = policy.map((entry) => `  - ${yamlOf(entry)}\n`).join('');
  const head =
    list === '' ? '' : `---\nallowed_transitions:\n${list}${isForcible ? 'force_implicit: true\n' : ''}---\n`;
  // A policy's own entries are asked for, so that it is not the text that is at fault.
  const asked = [...tags, ...policy].map((entry) => tagOf(entry));
  const text = `${head}Work. ${uses} Answer, as it fits, with ${asked.join(' or ') || 'something'}.\n`;
  return { text, answers: ['Done.', ...new Set(asked)] };
}

function writeScript({ policy, tags, uses }: GeneratedState): WrittenState {
  const list = policy.map(yamlOf).join(', ');
  const head = list === '' ? '' : `# ---\n# allowed_transitions: [${list}]\n# ---\n`;
  const [first, second] = tags.map(tagOf);
  const echo = (tag: string | undefined): string => (tag === undefined ? 'true' : `echo '${tag}'`);
  const use = uses === '{{input}}' ? ': "$RAYMOND_INPUT"\n' : uses === '{{x}}' ? ': "$x"\n' : '';
  const branches = `if [ -e done ]; then ${echo(first)}; else ${echo(second)}; fi\n`;
  return { text: `#!/bin/bash\n${head}${use}${branches}`, answers: [...new Set([first ?? '', second ?? ''])] };
}

type Generated = Readonly<Record<string, WrittenState>>;

const generated: fc.Arbitrary<Generated> = fc
  .tuple(stateOf(2), stateOf(2), stateOf(2), stateOf(1))
  .map(([start, a, b, c]) => ({
    'START.md': writePrompt(start),
    'A.md': writePrompt(a),
    'B.sh': writeScript(b),
    'C.md': writePrompt(c),
  }));

/** All that was seen of a state: what it had when it was entered, and which answers led on. */
interface Seen {
  readonly inputs: (string | null)[];
  readonly hasX: boolean[];
  readonly accepted: Set<string>;
  readonly rejected: Set<string>;
}

const MAX_POSITIONS = 150;

/** Tries all answers in all positions that can be reached with them. */
function explore(states: Generated, source: WorkflowSource): ReadonlyMap<string, Seen> {
  const seen = new Map<string, Seen>();
  const rulesOf = new Map(source.files.map((file) => [file.file, file.kind === 'state' ? file.state.rules : null]));
  const workflow = { name: 'w', path: '/w', platform: 'unix' } as const;
  const first = newRun({
    id: 'r',
    workflow,
    startedAt: 0,
    options: DEFAULT_OPTIONS,
    state: 'START.md',
    cwd: '/',
    input: 'i',
  });
  const queue: Run[] = [first];
  const known = new Set<string>();
  for (let index = 0; index < queue.length && index < MAX_POSITIONS; index += 1) {
    const run = queue[index] ?? first;
    const [agent] = run.agents;
    if (agent === undefined) continue;
    const state = seen.get(agent.state) ?? { inputs: [], hasX: [], accepted: new Set(), rejected: new Set() };
    seen.set(agent.state, state);
    state.inputs.push(inputText(agent.input));
    state.hasX.push(agent.variables.x !== undefined);
    for (const text of states[agent.state]?.answers ?? []) {
      const rules = rulesOf.get(agent.state) ?? { policy: [], maxVisits: null };
      const began = step(run, { kind: 'began', at: 0, agent: agent.id, sessionId: 's', rules, warnings: [] });
      const after = step(began.run, {
        kind: 'answered',
        at: 0,
        agent: agent.id,
        text,
        cost: null,
        denials: [],
        folders: {},
        scope: sourceScope(source),
      });
      const isAccepted = after.events.some(isProgress);
      state[isAccepted ? 'accepted' : 'rejected'].add(text);
      for (const next of isAccepted ? readyAgents(after.run) : []) {
        const alone = { ...after.run, agents: [next] };
        const key = JSON.stringify([next.state, next.input, next.variables, next.stack.map((frame) => frame.state)]);
        if (known.has(key) || next.stack.length > 3) continue;
        known.add(key);
        queue.push(alone);
      }
    }
  }
  return seen;
}

const isProgress = ({ kind }: Event): boolean => kind === 'transition' || kind === 'agent_ended';

const readyAgents = (run: Run): Run['agents'] => due(run).map(({ agent }) => getAgent(run, agent));

test('lint claims nothing that a run contradicts', () => {
  fc.assert(
    fc.property(generated, (states) => {
      const files = Object.fromEntries(STATES.map((file) => [file, states[file]?.text ?? '']));
      const source = sourceOf(files);
      const findings = lintSource(source);
      if (findings.some(({ rule }) => rule === 'frontmatter')) return;
      const seen = explore(states, source);
      // Where a state always fails, lint judges the others as if that were corrected.
      const isSound = findings.every(({ level }) => level !== 'error');
      for (const { rule, level, file, message } of findings) {
        const state = seen.get(file);
        const claim = `${rule} ${file}: ${message}\n${JSON.stringify(files, null, 1)}`;
        if (rule === 'unreachable-state' && level === 'warning') expect(state, claim).toBeUndefined();
        if (state === undefined) continue;
        const answers = [...state.accepted];
        if (rule === 'missing-state')
          expect(
            answers.filter((text) => text.includes('GONE.md')),
            claim,
          ).toStrictEqual([]);
        if (rule === 'implicit-transition') expect(answers, claim).toContain('Done.');
        if (rule === 'no-way-out') expect(answers, claim).toStrictEqual([]);
        if (rule === 'forbidden-tag') expect(state.rejected.size, claim).toBeGreaterThan(0);
        if (rule === 'undefined-result' && isSound) {
          if (message.startsWith('nothing hands')) expect(new Set(state.inputs), claim).toStrictEqual(new Set([null]));
          else expect(state.inputs, claim).toContain(null);
        }
        if (rule === 'undefined-variable' && isSound) {
          if (message.startsWith('nothing sets')) expect(new Set(state.hasX), claim).toStrictEqual(new Set([false]));
          else expect(state.hasX, claim).toContain(false);
        }
      }
      const claims = (rule: string, file: string): boolean =>
        findings.some((finding) => finding.rule === rule && finding.file === file);
      for (const [file, { accepted, rejected, hasX }] of seen) {
        const claim = `${file}\n${JSON.stringify(files, null, 1)}`;
        if (file.endsWith('.md')) expect(claims('implicit-transition', file), claim).toBe(accepted.has('Done.'));
        else if (accepted.size === 0)
          expect(
            findings.some((each) => each.file === file && each.level !== 'info'),
            claim,
          ).toBe(true);
        const isMissing = [...rejected].some((text) => text.includes('GONE.md'));
        if (file.endsWith('.sh') && isMissing) expect(claims('missing-state', file), claim).toBe(true);
        const isUsed = files[file]?.includes('{{x}}') || files[file]?.includes('"$x"');
        const isGiven = [...seen.values()].some((other) => other.hasX.includes(true));
        if (isUsed && isGiven && hasX.includes(false)) expect(claims('undefined-variable', file), claim).toBe(true);
      }
    }),
    { numRuns: 150 },
  );
});
