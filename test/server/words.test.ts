import { expect, test, vi } from 'vitest';
import { startSlowRun } from './slow-run.ts';
import { startTestServer, type TestServer } from './test-server.ts';

/** A server over a run r1 whose first turn takes long, and then the address of the run. */
async function startRun(): Promise<{ server: TestServer; path: string; finished: Promise<unknown> }> {
  const server = await startTestServer();
  const running = await startSlowRun(server);
  const path = `/api/runs/${await server.id()}/r1`;
  await vi.waitFor(async () =>
    expect((await server.get(path)).body).toMatchObject({ agents: [{ status: 'running', turns: 1 }] }),
  );
  return { server, path, finished: running.finished };
}

test('something is said to an agent, and the agent is interrupted', async () => {
  const { server, path, finished } = await startRun();
  expect(await server.post(`${path}/say`, { text: 'Mind the gap' })).toMatchObject({
    status: 202,
    body: { run_id: 'r1', agent: 'main', state: 'START.md', delivery: 'prompt' },
  });
  expect((await server.get(path)).body).toMatchObject({ agents: [{ said_waiting: 1 }] });
  expect(await server.post(`${path}/interrupt`, { agent: 'main', text: 'Faster' })).toMatchObject({
    status: 202,
    body: { run_id: 'r1', agent: 'main', state: 'START.md' },
  });
  await vi.waitFor(async () => {
    const { turns } = (await server.get(`${path}/turns`)).body as { turns: { turn: number }[] };
    expect(turns.toSorted((a, b) => a.turn - b.turn)).toMatchObject([{ failure: 'broken_off' }, { prompt: 'said' }]);
  });
  await server.raymond('stop', 'r1', '--now');
  expect(await finished).toMatchObject({ status: 'paused', agents: [{ messages: [] }] });
  expect(await server.post(`${path}/interrupt`)).toMatchObject({
    status: 409,
    body: { detail: 'no process drives the run r1: no turn of it can be interrupted' },
  });
});

test('an agent that was interrupted without a text continues where it was after an empty answer', async () => {
  const { server, path } = await startRun();
  expect((await server.post(`${path}/interrupt`)).status).toBe(202);
  const ask = await vi.waitFor(async () => {
    const { questions } = (await server.get(path)).body as { questions: { ask_id: string }[] };
    expect(questions).toHaveLength(1);
    return questions[0]?.ask_id;
  });
  expect((await server.post(`${path}/questions/${ask}/answer`, { text: '' })).status).toBe(200);
  await vi.waitFor(async () =>
    expect((await server.get(path)).body).toMatchObject({ questions: [], agents: [{ turns: 2 }] }),
  );
  await server.raymond('stop', 'r1', '--now');
});

test('what cannot be said is refused', async () => {
  const { server, path } = await startRun();
  for (const [what, body, status, detail] of [
    ['say', {}, 422, 'body.text'],
    ['say', { text: ' ' }, 409, 'the text is empty'],
    ['say', { text: 'x', agent: 'nobody' }, 409, 'there is no agent nobody'],
    ['interrupt', { agent: 'nobody' }, 409, 'there is no agent nobody'],
  ] as const) {
    const refused = await server.post(`${path}/${what}`, body);
    expect([refused.status, refused.body.detail]).toStrictEqual([status, expect.stringContaining(detail)]);
    expect((await server.post(`${path.slice(0, -1)}/${what}`, { text: 'x' })).status).toBe(404);
  }
  await server.raymond('stop', 'r1', '--now');
});
