import { request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createNameCheck } from '../../src/server/access.ts';
import { ROUTES } from '../../src/server/app.ts';
import { startTestServer } from './test-server.ts';

/** Sends headers that `fetch` does not let one choose. */
function send(port: number, headers: Record<string, string>, path = '/api/runs', method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('every route', () => {
  test('refuses requests without the token or with a wrong one, and says how to come in', async () => {
    const { origin } = await startTestServer();
    for (const { method, path } of ROUTES) {
      const url = `${origin}/api${path.replace(/\{\w+\}/g, 'x')}`;
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { cookie: 'raymond=wrong' }]) {
        const response = await fetch(url, { method: method.toUpperCase(), headers });
        expect([path, response.status]).toStrictEqual([path, 401]);
        expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      }
    }
    const { detail, hint } = (await (await fetch(`${origin}/api/runs`)).json()) as Record<string, string>;
    expect(detail).toBe('The token is missing.');
    expect(hint).toContain('raymond serve');
  });

  test('is reached under the names of loopback only', async () => {
    const { server } = await startTestServer();
    const { port, token } = server;
    const withToken = { authorization: `Bearer ${token}` };
    const statusFor = (host: string): Promise<number> => send(port, { ...withToken, host });
    expect(await statusFor(`localhost:${port}`)).toBe(200);
    expect(await statusFor(`[::1]:${port}`)).toBe(200);
    for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1:${port + 1}`, `127.0.0.1.evil:${port}`])
      expect([host, await statusFor(host)]).toStrictEqual([host, 403]);
  });

  test('refuses requests from other pages, also with the cookie', async () => {
    const { server } = await startTestServer();
    const { port, token } = server;
    const base = { host: `127.0.0.1:${port}`, cookie: `raymond=${token}` };
    expect(await send(port, base)).toBe(200);
    expect(await send(port, { ...base, origin: `http://127.0.0.1:${port}` })).toBe(200);
    const foreign = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${port + 1}` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign)
      expect([headers, await send(port, { ...base, ...headers })]).toStrictEqual([headers, 403]);
    expect(await send(port, { ...base, origin: 'http://evil.example' }, '/api/runs', 'POST')).toBe(403);
  });

  test('forbids pages everything that is not their own', async () => {
    const { request } = await startTestServer();
    for (const path of ['/api/runs', '/api/nothing', '/nothing']) {
      const { headers } = await request(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('the printed address', () => {
  test('puts the token into a strict cookie and out of the address', async () => {
    const { server } = await startTestServer();
    const response = await fetch(server.address, { redirect: 'manual' });
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/');
    expect(response.headers.get('set-cookie')).toBe(`raymond=${server.token}; HttpOnly; SameSite=Strict; Path=/`);
  });

  test('with a wrong token lets nobody in', async () => {
    const { origin } = await startTestServer();
    const response = await fetch(`${origin}/?token=wrong`, { redirect: 'manual', headers: { accept: 'text/html' } });
    expect(response.status).toBe(401);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await response.text()).toContain('The token is wrong.');
  });
});

test('a browser gets a page also where there is nothing, and a program JSON', async () => {
  const { request, origin } = await startTestServer();
  const opened = await fetch(`${origin}/api/runs`, { headers: { accept: 'text/html,*/*;q=0.8' } });
  expect([opened.status, await opened.text()]).toStrictEqual([
    401,
    expect.stringMatching(/<h1>The token is missing.*<code>raymond serve<\/code>/),
  ]);
  const page = await request('/nothing', { headers: { accept: 'text/html' } });
  expect([page.status, page.headers.get('content-type')]).toStrictEqual([404, 'text/html; charset=utf-8']);
  expect(await page.text()).toContain('There is nothing at /nothing.');
  expect((await request('/nothing', {})).headers.get('content-type')).toMatch(/^application\/problem\+json/);
});

test('a server that listens everywhere is reached by addresses and its own name, not by other names', () => {
  const isOwnName = createNameCheck('0.0.0.0', 8080);
  expect(isOwnName('192.0.2.1:8080')).toBe(true);
  expect(isOwnName('[2001:db8::1]:8080')).toBe(true);
  expect(isOwnName('192.0.2.1:9')).toBe(false);
  expect(isOwnName('evil.example:8080')).toBe(false);
});
