import { expect, test } from 'vitest';
import { wrongWith } from './rig.ts';

const STATES = { 'START.md': 'Begin.', 'NEXT.md': 'Continue.' };

const scenario = (options: string, quota: string, status: string): string => `
options: ${options}
answers:
  START: { text: <goto>NEXT</goto>, ${quota} }
  NEXT: <result>done</result>
expect: { status: ${status} }
`;

test.each([
  ['continues below the reserve', '{ reserve: 20% }', 'quota: 79.5', 'completed'],
  ['sleeps through hours from the reserve on', '{ reserve: 20% }', 'quota: 80, resets_in: 18000', 'completed'],
  ['pauses there if it is not to wait', '{ reserve: 20, wait: false }', 'quota: 80, resets_in: 18000', 'paused'],
  [
    'pauses if it would have to wait for too long',
    '{ reserve: 20, max_wait: 1h }',
    'quota: 93, resets_in: 3700',
    'paused',
  ],
  ['continues without a reserve', '{ slow_at: 50% }', 'quota: 100, resets_in: 18000', 'completed'],
])('a run whose answers report a quota %s', async (_what, options, quota, status) => {
  expect(await wrongWith(STATES, scenario(options, quota, status))).toStrictEqual([]);
});

test('a run that is killed while it sleeps for the reserve sleeps on, and then continues', async () => {
  const crashing = `
options: { reserve: 20%, parallel: 2 }
answers:
  START: { text: '<fork next="NEXT">NEXT</fork>', quota: 90, resets_in: 600, crash: true }
  NEXT: <result>done</result>
expect: { status: completed, turns: 3 }
`;
  expect(await wrongWith(STATES, crashing)).toStrictEqual([]);
});
