import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SessionUse } from '../../src/core/run/agent.ts';
import { charged, conversation, type Rig, runToEnd, served, setUp, textReply, withEachClaude } from './rig.ts';

/** Each turn with its state and how it uses conversations, which are named s1, s2 … in the order of their birth. */
function turnsOf(rig: Rig): readonly string[] {
  const names = new Map<string, string>();
  const nameOf = (id: string): string => {
    if (!names.has(id)) names.set(id, `s${names.size + 1}`);
    return names.get(id) ?? '';
  };
  const inWords = (use: SessionUse): string =>
    use.kind === 'fork' ? `forks ${nameOf(use.from)} to ${nameOf(use.id)}` : `${use.kind} ${nameOf(use.id)}`;
  return rig
    .eventsOf('turn_started')
    .map(({ state, session }) => `${state} ${session === null ? 'runs' : inWords(session)}`);
}

withEachClaude('a conversation', (pinned) => {
  test('continues, restarts or branches as the tags say', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «say <function return="B">F</function>»',
        'F.md': 'I am F «usage 2000 20» «say <goto>F2</goto>»',
        'F2.md': 'I am F2 «usage 2500 25» «say <reset cd="sub">F3</reset>»',
        'F3.md': 'I am F3 «usage 3000 30» «tool Write {"file_path":"f3.txt","content":"x"}» «say <result>r1</result>»',
        'B.md': 'I am B with {{result}} «usage 100 40 9000 500 70» «say <call return="D" model="haiku">C</call>»',
        'C.md': 'I am C «usage 5000 50» «say <result>r2</result>»',
        'D.md': 'I am D with {{result}} «usage 6000 60» «say <result>over</result>»',
      },
    });
    await mkdir(join(rig.cwd, 'sub'));
    const run = await runToEnd(rig);
    expect(run.status).toBe('completed');
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(turnsOf(rig)).toStrictEqual([
      'START.md new s1',
      'F.md new s2',
      'F2.md resume s2',
      'F3.md new s3',
      'B.md resume s1',
      'C.md forks s1 to s4',
      'D.md resume s1',
    ]);
    const beginning = ['> I am START', '< <function return="B">F</function>'];
    const middle = [...beginning, '> I am B with r1', '< <call return="D" model="haiku">C</call>'];
    expect(conversation(rig, 'I am START')).toStrictEqual(['> I am START']);
    expect(conversation(rig, 'I am F ')).toStrictEqual(['> I am F']);
    expect(conversation(rig, 'I am F2')).toStrictEqual(['> I am F', '< <goto>F2</goto>', '> I am F2']);
    expect(conversation(rig, 'I am F3')).toStrictEqual(['> I am F3']);
    expect(conversation(rig, 'I am B')).toStrictEqual([...beginning, '> I am B with r1']);
    expect(conversation(rig, 'I am C')).toStrictEqual([...middle, '> I am C']);
    expect(conversation(rig, 'I am D')).toStrictEqual([...middle, '> I am D with r2']);
    // The API knows each conversation by the name that we have chosen for it.
    const started = rig.eventsOf('turn_started').map(({ session }) => session?.id);
    expect([...new Set(rig.api.requests.map(({ session }) => session))]).toStrictEqual([...new Set(started)]);
    expect(rig.api.requests.map(({ model }) => model.includes('haiku'))).toStrictEqual(
      rig.api.requests.map(({ prompt }) => prompt.startsWith('I am C')),
    );
    expect(existsSync(join(rig.cwd, 'sub', 'f3.txt'))).toBe(true);
    expect(run.ledger.spentMicros).toBe(charged(rig));
    expect(run.ledger.estimatedMicros).toBe(0);
    expect(run.ledger.tokens).toStrictEqual(served(rig));
    for (const { state, models, costMicros } of rig.eventsOf('turn_ended')) {
      expect(models.map(({ model, micros }) => [model.includes('haiku'), micros])).toStrictEqual([
        [state === 'C.md', costMicros],
      ]);
    }
  });

  test('is not changed by scripts, not even one that is still to be branched', async (context) => {
    const rig = await setUp(context, pinned, {
      env: { FRUIT: 'plum' },
      states: {
        'START.md': 'I am START «say <call return="R" input="seed">C</call>»',
        'C.sh': 'echo "<call return=\\"C2\\" input=\\"$RAYMOND_RESULT $FRUIT\\">X</call>"',
        'X.sh': 'echo "<result>$RAYMOND_RESULT, HOME ${HOME##*/}, $(pwd)</result>"',
        'C2.md': 'I am C2 with {{result}} «say <result>back</result>»',
        // Claude Code gets over this by itself, in the same turn.
        'R.md': 'I am R with {{result}} «fail 529 1» «say <result>over</result>»',
      },
    });
    const run = await runToEnd(rig);
    expect(run.status).toBe('completed');
    expect(turnsOf(rig)).toStrictEqual([
      'START.md new s1',
      'C.sh runs',
      'X.sh runs',
      'C2.md forks s1 to s2',
      'R.md resume s1',
    ]);
    const beginning = ['> I am START', '< <call return="R" input="seed">C</call>'];
    expect(conversation(rig, 'I am C2')).toStrictEqual([
      ...beginning,
      `> I am C2 with seed plum, HOME home, ${rig.cwd}`,
    ]);
    expect(conversation(rig, 'I am R')).toStrictEqual([...beginning, '> I am R with back']);
    expect(rig.api.requests.map(({ reply }) => reply.fail?.kind)).toStrictEqual([
      undefined,
      undefined,
      '529',
      undefined,
    ]);
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test('is separate for each worker, and all work at the same time', async (context) => {
    const meet = (own: string, others: readonly string[]): string => {
      const all = others.map((each) => `[ -e ${each} ]`).join(' && ');
      const command = `touch ${own}; for i in $(seq 600); do ${all} && exit 0; sleep 0.1; done; exit 1`;
      return `«tool Bash ${JSON.stringify({ command, timeout: 100_000 })}»`;
    };
    const rig = await setUp(context, pinned, {
      states: {
        'START.md':
          'I am START «say <fork next="NEXT" own="a" other="b">WORKER</fork><fork next="NEXT" own="b" other="a">WORKER</fork>»',
        'WORKER.md': `---\nallowed_tools: [Bash]\n---\nI am {{own}} ${meet('{{own}}', ['{{other}}', 'parent'])} «say <result>{{own}} met {{other}}</result>»`,
        'NEXT.md': `---\nallowed_tools: [Bash]\n---\nI am NEXT ${meet('parent', ['a', 'b'])} «say <result>met both</result>»`,
      },
    });
    const run = await runToEnd(rig);
    expect(run.agents.map(({ id, phase }) => [id, phase])).toStrictEqual([
      ['main', { kind: 'ended', result: 'met both' }],
      ['main_worker1', { kind: 'ended', result: 'a met b' }],
      ['main_worker2', { kind: 'ended', result: 'b met a' }],
    ]);
    expect(rig.eventsOf('turn_ended').flatMap(({ denials }) => denials)).toStrictEqual([]);
    expect(conversation(rig, 'I am a')).toStrictEqual(['> I am a']);
    expect(conversation(rig, 'I am b')).toStrictEqual(['> I am b']);
    expect(conversation(rig, 'I am NEXT')[0]).toBe('> I am START');
    // Nobody saw that the tool had failed, or had to run twice.
    expect(rig.api.requests.map(({ messages }) => JSON.stringify(messages).includes('is_error":true'))).not.toContain(
      true,
    );
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test('contains the tools that ran, those that were denied, and the reminders', async (context) => {
    const only = (target: string): string => `---\nallowed_transitions:\n  - { tag: goto, target: ${target} }\n---\n`;
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': `${only('DENIED')}I am START «tool Write {"file_path":"made.txt","content":"by hand"}» «say written»`,
        'DENIED.md': `${only('LAST')}I am DENIED «tool Bash {"command":"npm install x"}» «say I could not»`,
        'LAST.md': 'I am LAST «say all is well»',
      },
      script({ prompt, step }) {
        if (prompt.startsWith('In your last turn')) return textReply('It is done. <goto>LAST</goto>');
        if (prompt.startsWith('The next step') && step === 0) return textReply('<result>over</result>');
        return undefined;
      },
    });
    const run = await runToEnd(rig);
    expect(run.status).toBe('completed');
    expect(readFileSync(join(rig.cwd, 'made.txt'), 'utf8')).toBe('by hand');
    expect(rig.eventsOf('turn_ended').map(({ state, denials }) => [state, denials])).toStrictEqual([
      ['START.md', []],
      ['DENIED.md', ['Bash(npm install x)']],
      ['DENIED.md', []],
      ['LAST.md', []],
      ['LAST.md', []],
    ]);
    expect(rig.eventsOf('transition').map(({ state, to, implicit }) => [state, to, implicit])).toStrictEqual([
      ['START.md', 'DENIED.md', true],
      ['DENIED.md', 'LAST.md', false],
      ['LAST.md', null, false],
    ]);
    expect(rig.eventsOf('reminded').map(({ state, problem, count }) => [state, problem, count])).toStrictEqual([
      ['DENIED.md', 'tools_denied', 1],
      ['LAST.md', 'no_tag', 1],
    ]);
    expect(conversation(rig, 'The next step')).toStrictEqual([
      '> I am START',
      '< [Write]',
      '> [tool_result]',
      '< written',
      '> I am DENIED',
      '< [Bash]',
      '> [tool_result]',
      '< I could not',
      expect.stringMatching(/^> In your last turn, .*Bash\(npm install x\)/s),
      '< It is done. <goto>LAST</goto>',
      '> I am LAST',
      '< all is well',
      expect.stringMatching(/^> The next step/),
    ]);
    expect(new Set(rig.eventsOf('turn_started').map(({ session }) => session?.id)).size).toBe(1);
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });
});
