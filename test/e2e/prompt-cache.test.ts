import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sendMessage } from '../../src/app/say.ts';
import { isAtLeast } from '../../src/turns/claude/find-claude.ts';
import { git } from '../git.ts';
import type { ApiMessage, ApiRequest } from '../messages-api/request.ts';
import type { Logged } from '../messages-api/server.ts';
import { storageIn } from '../storage/files/open-files.ts';
import { type Rig, resumeToEnd, setUp, textReply, withEachClaude } from './rig.ts';

const GATED = '«tool Bash {"command":"touch waits; until [ -e gate ]; do sleep 0.05; done"}»';

const STATES = {
  'START.md': 'I am START «say <goto>TALK</goto>»',
  'TALK.md': `I am TALK ${GATED} «say <goto>NEXT</goto>»`,
  'NEXT.md': 'I am NEXT «say <call return="BACK">SUB</call>»',
  'SUB.md': 'I am SUB «say <goto>SUB2</goto>»',
  'SUB2.md': 'I am SUB2 «say <result>found</result>»',
  'BACK.md': 'I am BACK «say done»',
  'SHORT.md': 'I am SHORT «say <goto>END</goto>»',
  'END.md': 'I am END «say <result>over</result>»',
};

const ASKED = ['START', 'TALK', 'TALK', 'NEXT', 'SUB', 'SUB2', 'BACK', 'reminder', 'summary', 'SHORT', 'END'];

/** Names a request by the state whose prompt it answers. */
function nameOf({ prompt }: ApiRequest): string {
  if (/summary/i.test(prompt)) return 'summary';
  return /I am (\w+)/.exec(prompt)?.[1] ?? (/next step/.test(prompt) ? 'reminder' : prompt);
}

function answer(request: ApiRequest) {
  const name = nameOf(request);
  if (name === 'summary') return textReply('<summary>All was read.</summary>');
  return name === 'reminder' ? textReply('<compact>SHORT</compact>') : undefined;
}

/** A value without the marks that say up to where it is cached. */
const unmarked = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null), (key, each) => (key === 'cache_control' ? undefined : each));

/** Its first line is a checksum of the conversation's first message, which the API does not read as a prompt. */
const BILLING = 'x-anthropic-billing-header';

const systemOf = ({ body }: Logged): unknown =>
  (unmarked(body.system) as readonly { readonly text: string }[]).filter(({ text }) => !text.startsWith(BILLING));

const messagesOf = ({ messages }: Logged): readonly unknown[] =>
  messages.map(({ role, content }: ApiMessage) => ({
    role,
    content: unmarked(typeof content === 'string' ? [{ type: 'text', text: content }] : content),
  }));

/** The request before this one in its conversation, or in the one that it was forked from. */
function predecessorOf({ api, eventsOf }: Rig, request: Logged): Logged | undefined {
  const before = api.requests.slice(0, api.requests.indexOf(request));
  const last = (session: string | null): Logged | undefined => before.findLast((each) => each.session === session);
  const fork = eventsOf('turn_started').find(({ session }) => session?.id === request.session)?.session;
  return last(request.session) ?? (fork?.kind === 'fork' ? last(fork.from) : undefined);
}

/** Requires that what the API has cached of each conversation serves its next request, too. */
function expectSharedPrefixes(rig: Rig): void {
  for (const request of rig.api.requests) {
    const before = predecessorOf(rig, request);
    if (before === undefined) continue;
    const name = nameOf(request);
    expect([name, request.model, systemOf(request)]).toStrictEqual([name, before.model, systemOf(before)]);
    expect([name, unmarked(request.body.tools)]).toStrictEqual([name, unmarked(before.body.tools)]);
    // The first prompt after a summary follows that instead of what it sums up.
    if (nameOf(before) === 'summary') continue;
    const known = messagesOf(before);
    // Claude Code itself leaves the last answer out of what it sums up, and appends the request for that to the last prompt.
    const shared = name === 'summary' ? known.slice(0, -2) : known;
    expect([name, messagesOf(request).slice(0, shared.length)]).toStrictEqual([name, shared]);
  }
}

/** From this version on, Claude Code keeps what it said of `git status` when a conversation began. */
const KEEPS_GIT_STATUS = [2, 1, 257] as const;

withEachClaude('the prompt cache', (pinned) => {
  for (const [how, options] of [
    ['in a process that stays open', {}],
    ['in a process for each turn', { keepOpenMs: 0 }],
    ['in a process that stays open, with --model', { model: 'sonnet' }],
    ['in a process for each turn, with --model', { keepOpenMs: 0, model: 'sonnet' }],
  ] as const) {
    test(`serves every request of a conversation ${how}`, async (context) => {
      const rig = await setUp(context, pinned, { states: STATES, options, script: answer });
      if (isAtLeast(pinned.version, KEEPS_GIT_STATUS)) git(rig.cwd, 'init', '-q');
      const running = await rig.start();
      while (!existsSync(join(rig.cwd, 'waits'))) await delay(20);
      await sendMessage('last', { storage: storageIn(rig.cwd), env: process.env, agent: null, text: 'Mind the gap' });
      writeFileSync(join(rig.cwd, 'gate'), '');
      const run = await running.finished;
      expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
      expect(rig.api.requests.map(nameOf)).toStrictEqual(ASKED);
      expectSharedPrefixes(rig);
    });
  }

  test('serves a conversation that is resumed after a kill, and one that was with another model in between', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «say <goto>TALK</goto>»',
        'TALK.md': 'I am TALK «delay 1000» «say <call return="BACK">OTHER</call>»',
        'OTHER.md': '---\nmodel: haiku\n---\nI am OTHER «say <goto>OWN</goto>»',
        'OWN.md': 'I am OWN «say <result>found</result>»',
        'BACK.md': 'I am BACK «say <result>over</result>»',
      },
      script: answer,
    });
    await rig.startAndKill('I am TALK');
    const run = await resumeToEnd(rig);
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    const [first, ...others] = rig.api.requests.filter(({ model }) => !model.includes('haiku'));
    expect(rig.api.requests.filter(({ model }) => model.includes('haiku')).map(nameOf)).toStrictEqual(['OTHER']);
    if (first === undefined) throw new Error('the API was never asked');
    for (const request of others) {
      expect([nameOf(request), systemOf(request)]).toStrictEqual([nameOf(request), systemOf(first)]);
      expect([nameOf(request), unmarked(request.body.tools)]).toStrictEqual([
        nameOf(request),
        unmarked(first.body.tools),
      ]);
    }
  });
});
