import { readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { getStatus } from '../../src/app/library.ts';
import { readTurnLocator } from '../../src/conversations/records.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { charged, conversation, type Rig, resumeToEnd, served, setUp, withEachClaude } from './rig.ts';

/** The folders of the run of a rig, of this kind. */
const foldersOf = ({ cwd }: Rig, kind: 'turns' | 'conversations'): readonly string[] => {
  const runs = join(cwd, '.raymond', 'runs');
  const [run = ''] = readdirSync(runs);
  const names = readdirSync(join(runs, run)).includes(kind) ? readdirSync(join(runs, run, kind)) : [];
  return names.sort().map((name) => join(runs, run, kind, name));
};

/** For each turn, the turn that started its process, and the agent of that if it was started ahead. */
const claimsOf = (rig: Rig): readonly string[] =>
  foldersOf(rig, 'turns').map((folder) => {
    const { opener, ahead } = readTurnLocator(folder) ?? {};
    return ahead === undefined ? `${opener}` : `ahead by ${ahead} ${opener}`;
  });

/** A prompt whose only transition is this one, which the model asks for after a tool has run this command. */
const stateOf = (entry: string, text: string, command: string, tag: string): string =>
  `---\nallowed_transitions: [${entry}]\nallowed_tools: [Bash]\n---\n${text} «usage 300 3» «tool Bash ${JSON.stringify({ command })}» «say ${tag}»`;

const waitFor = (file: string): string => `until [ -e ${file} ]; do sleep 0.05; done`;

/** Waits until so many processes of Claude Code are there, then lets a tool that waits for this file continue. */
async function openGate(rig: Rig, gate: string, processes: number): Promise<void> {
  while ((await getStatus('last', rig.cwd)).openConversations !== processes) await delay(50);
  writeFileSync(join(rig.cwd, gate), '');
}

const END = 'I am END «usage 500 5» «say <result>over</result>»';

withEachClaude('Claude Code that is started ahead', (pinned) => {
  test('gets the prompt after a reset and that of a worker, and costs what the API charges', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': stateOf('{tag: reset, target: A}', 'I am START', waitFor('gate1'), '<reset>A</reset>'),
        'A.md': stateOf('{tag: fork, target: W, next: END}', 'I am A', waitFor('gate2'), '<fork next="END">W</fork>'),
        'W.md': 'I am W «usage 700 7» «say <result>w</result>»',
        'END.md': END,
      },
      options: { budgetMicros: 5_000_000 },
    });
    const running = await rig.start();
    await openGate(rig, 'gate1', 2);
    // The conversation of START is closed, that of A at work, and one waits for the worker.
    while (!rig.api.requests.some(({ prompt }) => prompt.startsWith('I am A'))) await delay(50);
    while (foldersOf(rig, 'conversations').some((folder) => basename(folder) === '1-main')) await delay(50);
    await openGate(rig, 'gate2', 2);
    const run = await running.finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([
      { kind: 'ended', result: 'over' },
      { kind: 'ended', result: 'w' },
    ]);
    expect(claimsOf(rig)).toStrictEqual(['1', 'ahead by main 2', 'ahead by main 1', '3']);
    expect(conversation(rig, 'I am A')).toStrictEqual(['> I am A']);
    expect(conversation(rig, 'I am W')).toStrictEqual(['> I am W']);
    expect(rig.api.requests.length).toBe(6);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, tokens: served(rig) });
    expect(foldersOf(rig, 'conversations')).toStrictEqual([]);
  });

  test('is thrown away if the project is not as it was, and nothing was sent to the model', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': stateOf(
          '{tag: reset, target: END}',
          'I am START',
          `${waitFor('gate')}; echo LATER > CLAUDE.md`,
          '<reset>END</reset>',
        ),
        'END.md': END,
      },
    });
    writeFileSync(join(rig.cwd, 'CLAUDE.md'), 'EARLIER');
    const running = await rig.start();
    await openGate(rig, 'gate', 2);
    const run = await running.finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(claimsOf(rig)).toStrictEqual(['1', '2']);
    const [asked] = rig.api.requests.filter(({ prompt }) => prompt.startsWith('I am END'));
    expect(/EARLIER|LATER/.exec(JSON.stringify(asked))).toStrictEqual(expect.arrayContaining(['LATER']));
    expect(rig.api.requests.length).toBe(3);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, tokens: served(rig) });
  });

  test('is not started where that starts MCP servers beside those of the running turn', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': stateOf('{tag: reset, target: END}', 'I am START', 'sleep 2', '<reset>END</reset>'),
        'END.md': END,
      },
    });
    // It ends at once: Claude Code continues without it.
    const servers = { mcpServers: { broken: { command: 'false' } } };
    writeFileSync(join(rig.cwd, '.mcp.json'), JSON.stringify(servers));
    const run = await (await rig.start()).finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(claimsOf(rig)).toStrictEqual(['1', '2']);
  });

  test('is gone with a killed Raymond, or finishes the turn that it has got', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': stateOf(
          '{tag: reset, target: A}',
          'I am START',
          'until ls .raymond/runs/*/conversations/1-main.ahead/started; do sleep 0.05; done; touch waits; sleep 1',
          '<reset>A</reset>',
        ),
        'A.md': stateOf(
          '{tag: reset, target: B}',
          'I am A',
          'until ls .raymond/runs/*/conversations/2-main.ahead/started; do sleep 0.05; done',
          '<reset>B</reset>',
        ),
        'B.md': 'I am B «delay 1500» «say <goto>END</goto>»',
        'END.md': END,
      },
    });
    await rig.startAndKill('I am START', 'waits');
    while ((await claudesOf(rig)) > 1) await delay(20);
    await rig.resumeAndKill('I am B');
    const run = await resumeToEnd(rig);
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(claimsOf(rig)).toStrictEqual(['1', '2', 'ahead by main 2', '4']);
    expect(rig.api.requests.map(({ prompt }) => prompt.slice(0, 6))).toStrictEqual(
      ['START', 'START', 'A', 'A', 'B', 'END'].map((name) => `I am ${name}`.slice(0, 6)),
    );
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, tokens: served(rig) });
  });
});

/** The living processes of Claude Code of the run of a rig. */
async function claudesOf({ cwd }: Rig): Promise<number> {
  const runs = readdirSync(join(cwd, '.raymond', 'runs'));
  const marked = await Promise.all(runs.map((run) => findMarkedProcesses(`${run}/`)));
  return marked.flat().filter(({ program }) => /claude/.test(program)).length;
}
