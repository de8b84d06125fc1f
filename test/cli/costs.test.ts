import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { formatLocalTime } from '../../src/render/format.ts';
import { FakeTerminal } from '../render/terminal/live/fake-terminal.ts';
import { type CliProject, newCliProject } from './cli-project.ts';
import { writeWorkflow } from './owners.ts';

/** A program that answers every prompt with a result, two models and their tokens. */
const CLAUDE = `#!/bin/sh
case " $* " in *" --version "*) echo "2.1.325 (Claude Code)"; exit;; esac
cat >/dev/null
opus='"claude-opus-5-5":{"inputTokens":1000,"outputTokens":200,"cacheReadInputTokens":50000,"costUSD":0.75}'
haiku='"claude-haiku-5-5":{"inputTokens":10,"outputTokens":20,"costUSD":0.25}'
echo '{"type":"system","subtype":"init","model":"claude-opus-5-5"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"<result>done</result>","total_cost_usd":1,"model_usage_since_last_result":{'"$opus,$haiku"'}}'
`;

/** Three runs: two with Claude Code, of two workflows, and one with canned answers. */
async function threeRuns(): Promise<CliProject> {
  const project = newCliProject();
  const { cwd, raymond } = project;
  writeFileSync(join(cwd, 'claude'), CLAUDE, { mode: 0o755 });
  writeFileSync(join(cwd, 'answers.yaml'), 'answers:\n  START: { text: <result>r</result>, cost: 0.4 }\n');
  writeWorkflow(cwd, 'big', { 'START.sh': "echo '<goto>WORK</goto>'", 'WORK.md': 'Work.' });
  writeWorkflow(cwd, 'small', { 'START.md': 'Work.' });
  for (const [workflow, id, ...agent] of [
    ['big', 'r1', '--claude', join(cwd, 'claude')],
    ['small', 'r2', '--claude', join(cwd, 'claude')],
    ['small', 'r3', '--agent', 'replay:answers.yaml'],
  ] as const) {
    // The program takes one prompt only.
    expect(await raymond(workflow, '--run-id', id, '--quiet', '--keep-open', '0', ...agent)).toMatchObject({
      code: 0,
      err: '',
    });
  }
  return project;
}

const cellsOf = (out: string): readonly string[] => out.split('\n').map((line) => line.replace(/ {2,}/g, ' | ').trim());
const TODAY = (): string => formatLocalTime(Date.now()).slice(0, 10);
const TOTAL =
  'Total: $2.00 for 3 Claude turns of 3 runs, 102k tokens: 2.0k in, 440 out, 100k cache read, 0 cache written. Canned answers stand for another $0.40, which nobody paid.';

describe('raymond costs', () => {
  test('adds up dollars and tokens by what one asks for, and keeps canned answers apart', async () => {
    const { raymond } = await threeRuns();
    const table = async (...argv: string[]): Promise<readonly string[]> =>
      cellsOf((await raymond('costs', ...argv)).out);
    expect(await table()).toStrictEqual([
      'RUN | TURNS | COST | CANNED | TOKENS',
      'r3 | 1 | $0.00 | $0.40 | 0',
      'r2 | 1 | $1.00 | 51k',
      'r1 | 1 | $1.00 | 51k',
      '',
      TOTAL,
      '',
    ]);
    expect((await table('--by', 'workflow')).slice(1, 3)).toStrictEqual([
      'small | 2 | 2 | $1.00 | $0.40 | 51k',
      'big | 1 | 1 | $1.00 | 51k',
    ]);
    expect((await table('--by', 'state')).slice(1, 3)).toStrictEqual([
      'small/START.md | 2 | 2 | $1.00 | $0.40 | 51k',
      'big/WORK.md | 1 | 1 | $1.00 | 51k',
    ]);
    expect((await table('--by', 'model')).slice(1, 4)).toStrictEqual([
      'claude-opus-5-5 | 2 | 2 | $1.50 | 102k',
      'claude-haiku-5-5 | 2 | 2 | $0.50 | 60',
      'canned answers | 1 | 1 | $0.00 | $0.40 | 0',
    ]);
    expect((await table('--by', 'day'))[1]).toBe(`${TODAY()} | 3 | 3 | $2.00 | $0.40 | 102k`);
  });

  test('counts only turns since a time', async () => {
    const { raymond } = await threeRuns();
    const turns = async (since: string): Promise<number> =>
      JSON.parse((await raymond('costs', '--json', '--since', since)).out).total.turns;
    const tomorrow = formatLocalTime(Date.now() + 86_400_000).slice(0, 10);
    expect(await Promise.all(['1h', TODAY(), '2020-01-01T00:00:00Z', '99999999w', tomorrow].map(turns))).toStrictEqual([
      3, 3, 3, 3, 0,
    ]);
  });

  test.each(['yesterday', '2026-02-30', '12', '7 d ago', ''])('refuses --since %j', async (since) => {
    const { code, err } = await newCliProject().raymond('costs', '--since', since);
    expect(code).toBe(64);
    expect(err).toContain('--since must be a day such as 2026-01-31, a time, or an age such as 7d or 12h, not `');
  });

  test('refuses a group that is none', async () => {
    const { code, err } = await newCliProject().raymond('costs', '--by', 'modle');
    expect(code).toBe(64);
    expect(err).toContain('--by must be run, workflow, state, model or day, not `modle` (did you mean model?)');
  });

  test('says zero where there are no runs', async () => {
    expect((await newCliProject().raymond('costs')).out).toBe('Total: $0.00 for 0 Claude turns of 0 runs.\n');
  });

  test('names damaged runs and counts the others, and what is known of a run whose journal is damaged', async () => {
    const { cwd, raymond } = await threeRuns();
    const journal = (id: string): string => join(cwd, '.raymond', 'runs', id, 'journal.jsonl');
    writeFileSync(join(cwd, '.raymond', 'state', 'r4.json'), '{');
    rmSync(journal('r2'));
    const lines = readFileSync(journal('r1'), 'utf8').split('\n');
    writeFileSync(journal('r1'), lines.with(1, 'x'.repeat(lines[1]?.length ?? 0)).join('\n'));
    const { code, out, err } = await raymond('costs', '--by', 'state');
    expect(code).toBe(0);
    expect(cellsOf(out).slice(1, 4)).toStrictEqual([
      'small/unknown | 1 | 1 | $1.00 | 51k',
      'big/unknown | 1 | 1 | $1.00 | 51k',
      'small/START.md | 1 | 1 | $0.00 | $0.40 | 0',
    ]);
    expect(cellsOf(out).at(-2)).toBe(TOTAL);
    expect(err).toMatch(
      /^r2: Its journal is incomplete. \$1.00 of its costs have no details: they are counted at its start.$/m,
    );
    expect(err).toMatch(
      /^r1: .*journal.jsonl:2: this line of the journal is broken: .* \$1.00 of its costs have no details/m,
    );
    expect(err).toMatch(/^r4: .*it is not JSON.* Its costs are not counted.$/m);
    expect(JSON.parse((await raymond('costs', '--json')).out)).toMatchObject({
      incomplete: [
        { run_id: 'r2', missing_usd: 1 },
        { run_id: 'r1', missing_usd: 1 },
        { run_id: 'r4', missing_usd: null },
      ],
    });
  });

  test.each([80, 40])('fits into a screen of %d columns', async (columns) => {
    const project = await threeRuns();
    for (const by of ['run', 'workflow', 'state', 'model', 'day']) {
      const terminal = { ...project.terminal(), screen: new FakeTerminal(columns), outIsScreen: true };
      expect(await runCli(['costs', '--by', by], terminal)).toBe(0);
      const lines = terminal.output().out.split('\n');
      expect(lines.filter((line) => line.length > columns)).toStrictEqual([]);
    }
  });
});
