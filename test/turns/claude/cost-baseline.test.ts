import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readCostBaseline, UNKNOWN_COSTS, writeCostBaseline } from '../../../src/turns/claude/cost.ts';
import { newTurnContext } from '../turn-context.ts';

const TURN = { agent: 'main', number: 1, state: 'START.md' };

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'raymond-basis-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

test('a baseline is read as it was written', async () => {
  const dir = newFolder();
  await writeCostBaseline(dir, dir, dir, { kind: 'new', id: 's' }, { opus: 0.000_005 });
  expect(readCostBaseline(newTurnContext(dir), TURN)).toStrictEqual({ savedUsd: null, prices: { opus: 0.000_005 } });
});

test('without its file the turn is charged everything that it reports', () => {
  expect(readCostBaseline(newTurnContext(newFolder()), TURN)).toStrictEqual(UNKNOWN_COSTS);
});

test.each([
  ['torn', '{"savedUsd":1.2'],
  ['a negative total', '{"savedUsd":-5,"prices":{}}'],
  ['prices that are no numbers', '{"savedUsd":1,"prices":{"opus":"dear"}}'],
])('a damaged file, %s, lowers no cost and is named in a warning', (_, text) => {
  const dir = newFolder();
  writeFileSync(join(dir, 'basis.json'), text);
  const warnings: string[] = [];
  const context = newTurnContext(dir, { warn: (_turn, message) => warnings.push(message) });
  expect(readCostBaseline(context, TURN)).toStrictEqual(UNKNOWN_COSTS);
  expect(warnings).toStrictEqual([
    expect.stringMatching(/basis\.json is damaged: .*The turn is charged with the total of its conversation\.$/),
  ]);
});
