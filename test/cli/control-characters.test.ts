import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { formatJson } from '../../src/core/json.ts';
import { TransitionsLog } from '../../src/events/debug-files.ts';

const HOSTILE = 'a\u001b]52;c;ZXZpbA==\u0007\u009b31m\u202eb';
const RAW = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

test('an error that quotes a key of a config file controls no terminal', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-control-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  mkdirSync(join(cwd, '.raymond'));
  writeFileSync(join(cwd, '.raymond', 'config.toml'), `[raymond]\n${JSON.stringify(HOSTILE)} = 1\n`);
  let printed = '';
  const print = (text: string): void => {
    printed += text;
  };
  const terminal = { out: print, err: print, cwd, env: {}, screen: null, onInterrupt: () => () => {} };
  expect(await runCli(['config'], terminal)).toBe(64);
  expect(printed).toContain('there is no option');
  expect(printed).not.toMatch(RAW);
});

test('transitions.log has no control characters from names of states or messages', () => {
  const event = { kind: 'agent_failed', at: 0, agent: 'main', state: `${HOSTILE}.md`, message: HOSTILE } as const;
  expect(new TransitionsLog(0).formatEntry(event)).not.toMatch(RAW);
});

test('JSON escapes every control character and means the same', () => {
  const text = formatJson({ [HOSTILE]: HOSTILE }, 2);
  expect(text).not.toMatch(RAW);
  expect(JSON.parse(text)).toStrictEqual({ [HOSTILE]: HOSTILE });
});
