import { expect, test } from 'vitest';
import { createEventDocument } from '../../src/documents/event-document.ts';
import { createRunDocument, createStatusDocument } from '../../src/documents/run-document.ts';
import { AgentLabels, formatAgentLabel } from '../../src/render/agent-labels.ts';
import { TransitionsLog } from '../../src/render/debug-files.ts';
import { formatActivity, formatEvent } from '../../src/render/format.ts';
import { collectHistory } from '../../src/render/run-history.ts';
import { widthOf } from '../../src/render/text-width.ts';
import { RunDriver } from '../core/run-driver.ts';

test.each([
  [{}, 'main_work1'],
  [{ item: 'login', size: '9' }, 'main_work1 item=login'],
  [{ item: '' }, 'main_work1 item='],
  [{ item: 'two\nlines\u001b[31m red\u202e' }, 'main_work1 item=two lines red'],
  [{ item: 'x'.repeat(1_000_000) }, `main_work1 item=${'x'.repeat(26)}…`],
  [{ item: '日'.repeat(40) }, `main_work1 item=${'日'.repeat(13)}…`],
  [{ ['n'.repeat(500)]: 'login' }, `main_work1 ${'n'.repeat(31)}…`],
])('a worker is labelled with its first variable: %#', (variables, label) => {
  expect(formatAgentLabel({ id: 'main_work1', variables })).toBe(label);
  expect(widthOf(label)).toBeLessThanOrEqual('main_work1 '.length + 32);
});

const FORKED = new RunDriver({ files: ['START.sh', 'WORK.sh'] });
FORKED.answer('<fork next="WORK" item="login">WORK</fork>').runTurn('main_work1', '<result>done</result>');

test('every line about a worker has its label, in plain output and in transitions.log', () => {
  const labels = new AgentLabels();
  const log = new TransitionsLog(0);
  const lines: string[] = [];
  for (const event of FORKED.events) {
    labels.observe(event);
    lines.push(formatEvent(event, labels.of) ?? '', log.formatEntry(event) ?? '');
  }
  const about = lines.filter((line) => line.includes('main_work1'));
  expect(about.length).toBeGreaterThan(4);
  for (const line of about) expect(line).toContain('[main_work1 item=login] ');
  const activity = { at: 1, agent: 'main_work1', doing: { kind: 'says', text: 'hm' } } as const;
  expect(formatActivity(activity, labels.of)).toStrictEqual(['[main_work1 item=login] | hm']);
});

test('agents that a resumed run has already are labelled, too, and those that have ended are forgotten', () => {
  const labels = new AgentLabels(FORKED.run.agents);
  expect(labels.of('main_work1')).toBe('main_work1 item=login');
  labels.forget('main_work1');
  expect(labels.of('main_work1')).toBe('main_work1');
});

test('JSON documents have the label of each agent', async () => {
  const { run, events } = FORKED;
  const started = events.find((event) => event.kind === 'agent_started' && event.parent !== null);
  expect(started && createEventDocument(started)).toMatchObject({ label: 'main_work1 item=login' });
  const labelled = { agents: [{ label: 'main' }, { label: 'main_work1 item=login' }] };
  const history = await collectHistory(events, 10);
  expect(createRunDocument(run, history)).toMatchObject(labelled);
  expect(history.labels.of('main_work1')).toBe('main_work1 item=login');
  const situation = { run, observedStatus: 'running', owner: null, damage: [], openConversations: 0 } as const;
  expect(createStatusDocument(situation, history, 1)).toMatchObject(labelled);
});
