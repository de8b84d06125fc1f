import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startRunWith } from '../../src/app/start.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { Run } from '../../src/core/run/run.ts';
import { createClock } from '../../src/process/clock.ts';
import { PRODUCTION } from '../../src/wiring/run-context.ts';

const DAY_MS = 86_400_000;
const LATE = { 'LATE.sh': "#!/bin/bash\ntouch open\necho '<result>late</result>'\n" };

/** Runs a workflow with a clock that jumps by so much when the first event of a kind comes. */
async function runWithJump(
  files: Readonly<Record<string, string>>,
  { jumpMs, at }: { readonly jumpMs: number; readonly at: Event['kind'] },
): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-clock-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, 'flow', name)), { recursive: true });
      writeFileSync(join(folder, 'flow', name), content, { mode: 0o755 });
    }
    let aheadMs = 0;
    const observe = ({ kind }: Event): void => {
      if (kind === at) aheadMs = jumpMs;
    };
    const agent = 'START.md' in files ? { agent: `replay:${join(folder, 'flow', 'answers.yaml')}` } : {};
    const env = { ...process.env, RAYMOND_REPLAY: 'fast' };
    const request = { cwd: folder, env, observe, attended: true, options: agent };
    const runtime = { ...PRODUCTION, clock: createClock(() => aheadMs) };
    return await (await startRunWith(join(folder, 'flow'), request, runtime)).finished;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const resultOf = ({ agents }: Run): unknown => agents[0]?.phase;

describe.each([
  ['back', -DAY_MS],
  ['forward', DAY_MS],
])('a clock that is set %s by a day', (_, jumpMs) => {
  test('does not prolong the wait of a join', async () => {
    const run = await runWithJump(
      {
        ...LATE,
        'START.sh': `#!/bin/bash\necho '<fork>W</fork><join timeout="1s" timeout_next="LATE">DONE</join>'\n`,
        'W.sh': "#!/bin/bash\nuntil [ -e open ]; do sleep 0.05; done\necho '<result>done</result>'\n",
        'DONE.sh': "#!/bin/bash\necho '<result>joined</result>'\n",
      },
      { jumpMs, at: 'joining' },
    );
    expect(resultOf(run)).toStrictEqual({ kind: 'ended', result: 'late' });
  });

  test('does not prolong the time for an answer', async () => {
    const run = await runWithJump(
      {
        ...LATE,
        'START.sh': `#!/bin/bash\necho '<ask next="GO" timeout="1s" timeout_next="LATE">Now?</ask>'\n`,
        'GO.sh': "#!/bin/bash\necho '<result>answered</result>'\n",
      },
      { jumpMs, at: 'asked' },
    );
    expect(resultOf(run)).toStrictEqual({ kind: 'ended', result: 'late' });
  });

  test.each([
    ['a usage limit', '{ fail: usage_limit, resets_in: 1 }'],
    ['a retry', '{ fail: overloaded }'],
  ])('does not prolong the wait for %s', async (_wait, failure) => {
    const run = await runWithJump(
      {
        'answers.yaml': `answers:\n  START.md:\n    - turns:\n        - ${failure}\n        - <result>again</result>\n`,
        'START.md': 'Work.\n',
      },
      { jumpMs, at: 'sleeping' },
    );
    expect(resultOf(run)).toStrictEqual({ kind: 'ended', result: 'again' });
  });
});
