import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { usdToMicros } from '../../../src/core/run/ledger.ts';
import type { FailureKind } from '../../../src/language/failure.ts';
import { formatClaudeVersion } from '../../../src/turns/claude/find-claude.ts';
import { PINNED } from '../../claude-code/pinned.ts';
import { fork, fresh, REFUSED, type Rig, resume, setUp, type TurnResult } from './real-claude.ts';

/** What the ledger enters for a turn, whatever the conversation has cost before. */
const micros = ({ outcome }: TurnResult): number => outcome.cost.micros;

const failure = ({ outcome }: TurnResult): unknown =>
  outcome.kind === 'failed' ? [outcome.failure.kind, outcome.progress] : ['answered', outcome.text];

const messageOf = ({ outcome }: TurnResult): string =>
  outcome.kind === 'failed' ? outcome.failure.message : outcome.text;

for (const pinned of PINNED) {
  const name = `Claude Code ${formatClaudeVersion(pinned.version)}`;
  const title = pinned.isInstalled ? name : `${name} (skipped: node test/claude-code/install.mjs installs it)`;

  describe.skipIf(!pinned.isInstalled).concurrent(title, { timeout: 100_000 }, () => {
    let rig: Rig;
    beforeAll(async () => {
      rig = await setUp(pinned);
    });
    afterAll(() => rig.close());

    /** The texts of the request that a prompt caused. */
    const heard = (prompt: string): string =>
      JSON.stringify(rig.api.requests.find((request) => request.prompt === prompt)?.messages);
    const charged = (prompt: string): number => usdToMicros(rig.api.chargedUsd(prompt));

    test('answers, and reports its session, model and version', async () => {
      const session = fresh();
      const { outcome, transcript, exitCode } = await rig.runTurn({ session, prompt: '«say hello»', model: 'haiku' });
      expect(outcome).toStrictEqual({
        kind: 'answered',
        text: 'hello',
        denials: [],
        cost: {
          kind: 'reported',
          micros: charged('«say hello»'),
          models: [
            {
              model: expect.stringMatching(/haiku/),
              tokens: { input: 1000, output: 100, cacheRead: 0, cacheWrite: 0 },
              weight: expect.any(Number),
            },
          ],
        },
      });
      expect(exitCode).toBe(0);
      expect(transcript.sessionId).toBe(session.id);
      expect(transcript.model).toMatch(/haiku/);
      expect(transcript.version).toBe(formatClaudeVersion(pinned.version));
      expect(transcript.garbage).toBe(0);
    });

    test('writes a file in its working directory', async () => {
      const file = join(rig.cwd, 'made.txt');
      const prompt = `«tool Write ${JSON.stringify({ file_path: file, content: 'by hand' })}» «say made»`;
      expect(failure(await rig.runTurn({ prompt }))).toStrictEqual(['answered', 'made']);
      expect(readFileSync(file, 'utf8')).toBe('by hand');
    });

    test('remembers when it is resumed, forgets when it is not, and does not change the original of a fork', async () => {
      const first = fresh();
      await rig.runTurn({ session: first, prompt: 'the word is plum «say 1»' });
      const branch = fork(first);
      await rig.runTurn({ session: branch, prompt: 'medlar «say 2»' });
      await rig.runTurn({ session: resume(first), prompt: 'quince «say 3»' });
      await rig.runTurn({ session: resume(branch), prompt: 'medlar again «say 4»' });
      await rig.runTurn({ session: fresh(), prompt: 'anew «say 5»' });
      expect(heard('medlar «say 2»')).toContain('plum');
      expect(heard('quince «say 3»')).toContain('plum');
      expect(heard('quince «say 3»')).not.toContain('medlar');
      expect(heard('medlar again «say 4»')).toContain('medlar «say 2»');
      expect(heard('medlar again «say 4»')).not.toContain('quince');
      expect(heard('anew «say 5»')).not.toContain('plum');
    });

    test('takes a prompt literally, even if it looks like a command or an option', async () => {
      for (const prompt of ['/cost', '--help', '  spaced\n\n\ttext 🜚 é\u200b "quotes" $HOME `x`']) {
        const took = await rig.runTurn({ prompt });
        expect(failure(took)).toStrictEqual(['answered', `echo: ${prompt.trim()}`]);
      }
    });

    test('reports a lost conversation, at a resume and at a fork', async () => {
      const gone = { kind: 'new', id: randomUUID() } as const;
      expect(failure(await rig.runTurn({ session: resume(gone), prompt: 'hi' }))).toStrictEqual([
        'session_lost',
        'none',
      ]);
      expect(failure(await rig.runTurn({ session: fork(gone), prompt: 'hi' }))).toStrictEqual(['session_lost', 'none']);
    });

    test('does not accept a session id twice', async () => {
      const session = fresh();
      await rig.runTurn({ session, prompt: '«say first»' });
      const second = await rig.runTurn({ session, prompt: '«say second»' });
      expect(failure(second)).toStrictEqual(['transient', 'none']);
      expect(messageOf(second)).toContain('already in use');
    });

    test('may write in a folder of its own outside of its working directory, and nowhere else', async () => {
      const root = mkdtempSync(join(tmpdir(), 'raymond-tasks-'));
      onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
      const [own, other] = ['.raymond/tasks/r/main', '.raymond/tasks/r/other'].map((name) => join(root, name));
      for (const folder of [own, other]) mkdirSync(folder ?? '', { recursive: true });
      const write = (folder = '') =>
        `«tool Write ${JSON.stringify({ file_path: join(folder, 'a.txt'), content: 'x' })}»`;
      const { outcome } = await rig.runTurn({ prompt: `${write(own)} ${write(other)} «say ok»`, folders: [own ?? ''] });
      expect(outcome).toMatchObject({
        kind: 'answered',
        text: 'ok',
        denials: [`Write(${join(other ?? '', 'a.txt')})`],
      });
      expect([own, other].map((folder = '') => existsSync(join(folder, 'a.txt')))).toStrictEqual([true, false]);
    });

    test('succeeds though a tool was denied, and reports it', async () => {
      const { outcome } = await rig.runTurn({ prompt: '«tool Bash {"command":"npm install x"}» «say could not»' });
      expect(outcome).toMatchObject({ kind: 'answered', text: 'could not', denials: ['Bash(npm install x)'] });
    });

    test('may use allowed tools, and not disallowed ones', async () => {
      const prompt =
        '«tool Bash {"command":"npm --version, x"}» «tool Write {"file_path":"no.txt","content":""}» «say ok»';
      const settings = { allowedTools: ['Bash(npm --version, x)', 'Edit'], disallowedTools: ['Write'] };
      const { outcome } = await rig.runTurn({ prompt, settings });
      expect(outcome).toMatchObject({ kind: 'answered', denials: [] });
      expect(existsSync(join(rig.cwd, 'no.txt'))).toBe(false);
    });

    test('refuses an unknown permission mode, which the user must fix', async () => {
      const took = await rig.runTurn({ prompt: 'hi', permissionMode: 'nonsense' });
      expect(failure(took)).toStrictEqual(['invalid_request', 'none']);
      expect(messageOf(took)).toContain('nonsense');
    });

    test('adds the text of a state to the system prompt, only for that state', async () => {
      const session = fresh();
      const appended = (appendSystemPrompt: string) => ({ settings: { appendSystemPrompt } });
      await rig.runTurn({ session, prompt: 'sys «say 1»', ...appended('-PLUM-') });
      await rig.runTurn({ session: resume(session), prompt: 'sys «say 2»' });
      await rig.runTurn({ session: resume(session), prompt: 'sys «say 3»', ...appended('-PEAR-') });
      await rig.runTurn({ session: resume(session), prompt: 'sys «say 4»' });
      const systems = rig.api.requests
        .filter(({ prompt }) => prompt.startsWith('sys '))
        .map(({ system }) => ['-PLUM-', '-PEAR-'].filter((fruit) => system.includes(fruit)));
      expect(systems).toStrictEqual([['-PLUM-'], [], ['-PEAR-'], []]);
    });

    test('continues by itself when its answer was cut off', async () => {
      const took = await rig.runTurn({ prompt: 'cut off «fail maxtokens 1» «say half»' });
      expect(failure(took)).toStrictEqual(['answered', expect.stringContaining('Output token limit hit')]);
    });

    test.each([
      ['in the middle of its work', '«tool Write {"file_path":"b.txt","content":"x"}» «say q»'],
      ['with its last message', '«say the end, though too dear»'],
    ])('stops for the budget %s', async (_, prompt) => {
      const took = await rig.runTurn({ prompt, budgetMicros: 1000 });
      expect(failure(took)).toStrictEqual(['budget', 'answer']);
      expect(micros(took)).toBe(charged(prompt));
    });

    test.each<[string, FailureKind, RegExp]>([
      ['500', 'transient', /500/],
      ['529', 'transient', /529/],
      ['overloaded', 'transient', /529/],
      ['html', 'transient', /502/],
      ['drop', 'transient', /ECONNRESET/],
      ['dropmid', 'transient', /ECONNRESET/],
      ['malformed', 'transient', /parse/i],
      ['empty', 'transient', /empty|JSON/],
      ['429', 'usage_limit', /rate limit/],
      ['401', 'authentication', /API key.*resume the run/],
      ['billing', 'billing', /Credit balance is too low/],
      ['404', 'model', /selected model/],
      ['400', 'invalid_request', /something is wrong/],
      ['toolong', 'prompt_too_long', /too long/],
    ])('fails when the API answers %s: %s', async (kind, expected, said) => {
      const took = await rig.runTurn({ prompt: `«fail ${kind}»` });
      expect(failure(took)).toStrictEqual([expected, 'prompt']);
      expect(messageOf(took)).toMatch(said);
      expect(took.exitCode).not.toBe(0);
    });

    test('fails when the model refuses, at every attempt', async () => {
      const took = await rig.runTurn({ prompt: `please ${REFUSED}` });
      expect(failure(took)).toStrictEqual(['refusal', 'prompt']);
    });

    test('continues after a failure in the middle of its work', async () => {
      const session = fresh();
      const prompt = '«tool Write {"file_path":"c.txt","content":"x"}» «fail 500 1» «say never»';
      const broken = await rig.runTurn({ session, prompt });
      expect(failure(broken)).toStrictEqual(['transient', 'answer']);
      expect(micros(broken)).toBe(charged(prompt));
      expect(failure(await rig.runTurn({ session: resume(session), prompt: 'on «say on»' }))).toStrictEqual([
        'answered',
        'on',
      ]);
    });

    test('reports when the limit of a subscription ends', async () => {
      const reset = Math.floor(Date.now() / 1000) + 5000;
      const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'made-up' };
      const { outcome } = await rig.runTurn({ prompt: `«fail limit * ${reset}»`, env });
      expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'usage_limit', untilMs: reset * 1000 } });
    });

    test('cannot log in without a key', async () => {
      const took = await rig.runTurn({ prompt: 'hi', env: { ANTHROPIC_API_KEY: '' } });
      expect(failure(took)).toStrictEqual(['authentication', 'prompt']);
      expect(messageOf(took)).toContain('Not logged in');
    });

    test('counts its sub-agents, but does not use their text as its answer', async () => {
      const task = { description: 'd', prompt: 'sub «say from below»', subagent_type: 'general-purpose' };
      const prompt = `«tool Agent ${JSON.stringify(task)}» «fail 500»`;
      const took = await rig.runTurn({ prompt });
      expect(failure(took)).toStrictEqual(['transient', 'answer']);
      expect(took.transcript.lastText).toBe(null);
      expect(micros(took)).toBe(charged(prompt) + charged('sub «say from below»'));
    });

    test('may continue by itself after its answer, when a background task ends: the answer stays', async () => {
      const task = { command: 'sleep 0.2', run_in_background: true, description: 'a task' };
      const { outcome, transcript } = await rig.runTurn({
        prompt: `«tool Bash ${JSON.stringify(task)}» «say <goto>NEXT</goto>»`,
        settings: { allowedTools: ['Bash'] },
        env: { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '0' },
      });
      expect(transcript.lastResult).not.toBe(transcript.ownResult);
      expect(transcript).toMatchObject({ laterRound: true, lastResult: { isError: false, cause: 'other' } });
      expect(outcome).toMatchObject({ kind: 'answered', text: '<goto>NEXT</goto>' });
    });

    test('costs what the API charges, over new, resumed, forked and killed turns', async () => {
      const [first, lost] = [fresh(), fresh()];
      const branch = fork(first);
      const cut = fork(first);
      const hang = (mark: string) => ({
        prompt: `${mark} «usage 3000 50» «tool Write {"file_path":"k.txt","content":"${'x'.repeat(150)}"}» «fail hang»`,
        killAt: ({ kind }: { kind: string }) => kind === 'tool_results',
      });
      const steps = [
        { session: first, prompt: 'c1 «usage 1000 10» «say a»' },
        { session: resume(first), prompt: 'c2 «usage 2000 20» «say b»' },
        { session: branch, prompt: 'c3 «usage 4000 30» «say c»' },
        { session: resume(branch), prompt: 'c4 «usage 5000 40» «say d»' },
        { session: resume(first), prompt: 'c5 «usage 6000 50» «say e»' },
        // Killed after its result: it was answered, but has saved no total.
        {
          session: resume(first),
          prompt: 'c6 «usage 7000 60» «say f»',
          killAt: ({ kind }: { kind: string }) => kind === 'result',
        },
        { session: resume(first), prompt: 'c7 «usage 8000 70» «say g»' },
        { session: resume(first), ...hang('c8') },
        { session: resume(first), prompt: 'c9 «usage 9000 80» «say h»' },
        { session: cut, ...hang('c10') },
        { session: resume(cut), prompt: 'c11 «usage 1500 90» «say i»' },
        { session: lost, ...hang('c12') },
        { session: resume(lost), prompt: 'c13 «usage 2500 95» «say j»' },
      ];
      for (const step of steps) {
        const took = await rig.runTurn(step);
        const exact = charged(step.prompt);
        if (step.prompt.includes('hang')) {
          expect(failure(took)).toStrictEqual(['transient', 'answer']);
          expect(took.outcome.cost.kind).toBe('estimated');
          expect(Math.abs(micros(took) - exact) / exact).toBeLessThan(0.2);
        } else {
          expect([step.prompt, took.outcome.kind, micros(took)]).toStrictEqual([step.prompt, 'answered', exact]);
        }
      }
    });
  });
}
