import { expect, test } from 'vitest';
import { usdToMicros } from '../../src/core/run/ledger.ts';
import type { Script } from '../messages-api/server.ts';
import { charged, setUp, withEachClaude } from './rig.ts';

const WORKERS = 6;
const PARALLEL = 3;
/** Less than the workers need all together. */
const BUDGET_MICROS = 500_000;
/** The number of answers that a worker needs, the last of them with its tag. */
const ANSWERS = 8;

const forks = '<fork next="DONE.sh">WORK.md</fork>'.repeat(WORKERS);
const STATES = {
  'FORK.sh': `echo '${forks}'`,
  'WORK.md': 'Read notes.txt again and again.',
  'DONE.sh': "echo '<result>all forked</result>'",
};

/** Reads a file until it has answered often enough in this conversation. Every answer costs the same. */
const work: Script = ({ messages }) => {
  const answers = messages.filter(({ role }) => role === 'assistant').length;
  const block =
    answers < ANSWERS - 1
      ? ({ type: 'tool_use', name: 'Read', input: { file_path: 'notes.txt' } } as const)
      : ({ type: 'text', text: '<result>done</result>' } as const);
  return { blocks: [block], usage: { input: 1_000, output: 1_000 } };
};

const START = {
  unknown: "echo '<goto>FORK.sh</goto>'",
  known: `echo '<function return="FORK.sh">WORK.md</function>'`,
};

withEachClaude('a budget', (pinned) => {
  for (const [cost, start] of Object.entries(START)) {
    test(`is exceeded by at most one request for each of several agents whose cost is ${cost}`, async (context) => {
      const rig = await setUp(context, pinned, {
        states: { ...STATES, 'START.sh': start },
        script: work,
        options: { budgetMicros: BUDGET_MICROS, parallel: PARALLEL },
      });
      const run = await (await rig.start()).finished;
      const requestMicros = Math.max(...rig.api.requests.map(({ chargedUsd }) => usdToMicros(chargedUsd)));
      expect(run.status).toBe('budget_exceeded');
      expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0 });
      expect(run.ledger.spentMicros).toBeGreaterThanOrEqual(BUDGET_MICROS);
      expect(run.ledger.spentMicros).toBeLessThanOrEqual(BUDGET_MICROS + PARALLEL * requestMicros);
    });
  }
});
