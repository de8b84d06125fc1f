import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseWorkflowUrl } from '../../src/workflow/workflow-spec.ts';
import { type CliProject, newCliProject } from './cli-project.ts';
import { writeWorkflow } from './owners.ts';

const HASH = 'a'.repeat(64);

test.each<[string, string]>([
  [`https://example.com/flow-${HASH}.zip`, HASH],
  [`https://example.com/${HASH.toUpperCase()}.zip?token=1#x`, HASH],
  [`http://127.0.0.1:80/a/b.c_${HASH}.zip`, HASH],
  ['https://example.com/flow.zip', 'its file name must end in the SHA-256 of the zip, as in flow-SHA256.zip'],
  [`https://example.com/bead${HASH}.zip`, 'its file name must end in the SHA-256 of the zip, as in flow-SHA256.zip'],
  [`https://example.com/${HASH}0.zip`, 'its file name must end in the SHA-256 of the zip, as in flow-SHA256.zip'],
  [
    `https://example.com/a%2f..%2f-${HASH}.zip`,
    'its file name must end in the SHA-256 of the zip, as in flow-SHA256.zip',
  ],
  [`http://example.com/flow-${HASH}.zip`, 'only https:// addresses are fetched'],
  [`file:///flow-${HASH}.zip`, 'only https:// addresses are fetched'],
  [`https://me:secret@example.com/flow-${HASH}.zip`, 'it contains credentials'],
  ['https://', 'it is not a valid address'],
])('%s gives %s', (text, expected) => {
  const parsed = parseWorkflowUrl(text);
  expect('problem' in parsed ? parsed.problem : parsed.sha256).toBe(expected);
});

/** Serves on loopback until the test ends; returns the origin. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((ready) => server.once('listening', ready));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A project, and the bytes and hash of a workflow that prints its input. */
async function makeZip(): Promise<{ project: CliProject; bytes: Buffer; sha256: string }> {
  const project = newCliProject();
  writeWorkflow(project.cwd, 'wf', { 'START.sh': 'echo "<result>fetched $RAYMOND_RESULT</result>"' });
  await project.raymond('convert', 'wf', 'wf.zip');
  const bytes = readFileSync(join(project.cwd, 'wf.zip'));
  return { project, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

const OPEN = '---\nallowed_transitions:\n  - { tag: call-workflow, return: END.sh }\n  - { tag: result }\n---\nGo.';

describe('a workflow on the web', () => {
  test('is fetched once, after a person said so, and then runs without the network', async () => {
    const { project, bytes, sha256 } = await makeZip();
    const requests: (string | undefined)[] = [];
    const origin = await serve(({ url }, response) => {
      requests.push(url);
      response.end(bytes);
    });
    const url = `${origin}/flow-${sha256}.zip`;
    const refused = await project.raymond(url, '--quiet');
    expect(refused).toMatchObject({ code: 64, out: '' });
    expect(refused.err).toContain(`has not been fetched yet\nTo fetch and trust it: raymond trust ${url} --yes\n`);
    expect(requests).toStrictEqual([]);
    const kept = join(project.configHome, 'raymond', 'workflows', `flow-${sha256}.zip`);
    expect(await project.raymond('trust', url, '--yes')).toMatchObject({ code: 0, out: `Trusted: ${kept}\n` });
    expect(statSync(kept).mode & 0o077).toBe(0);
    const run = await project.raymond(url, '--quiet', '--input', 'it', '--run-id', 'r1');
    expect(run).toMatchObject({ code: 0, out: 'fetched it\n' });
    expect(requests).toHaveLength(1);
    expect((await project.raymond('trust', '--list')).out).toContain(
      `flow-${sha256}.zip (a workflow that was fetched)`,
    );
    // What was kept is compared with its name again whenever it is read.
    writeFileSync(kept, bytes.subarray(0, -1));
    expect(await project.raymond(url, '--quiet')).toMatchObject({ code: 65 });
    expect(await project.raymond('trust', '--revoke', url)).toMatchObject({ code: 0 });
    expect(await project.raymond(url, '--quiet')).toMatchObject({ code: 64 });
  });

  test('is refused if its content, its address or the server is wrong', async () => {
    const { project, bytes, sha256 } = await makeZip();
    const origin = await serve(({ url = '' }, response) => {
      if (url.startsWith('/loop')) response.writeHead(302, { location: url }).end();
      else if (url.startsWith('/file')) response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else if (url.startsWith('/gone')) response.writeHead(404).end();
      else response.end(bytes);
    });
    const refusals: readonly (readonly [string, RegExp])[] = [
      [`${origin}/flow-${HASH}.zip`, /its content has the SHA-256 [0-9a-f]{64}, not the one in its name/],
      [`${origin}/loop/flow-${sha256}.zip`, /it redirects too often/],
      [`${origin}/file/flow-${sha256}.zip`, /it redirects to file:\/\//],
      [`${origin}/gone/flow-${sha256}.zip`, /the server answered 404/],
      [`http://127.0.0.1:1/flow-${sha256}.zip`, /was not fetched: .*(ECONNREFUSED|bad port)/],
      [`${origin}/flow.zip`, /cannot be fetched: its file name must end in the SHA-256/],
      ['ftp://example.com/flow.zip', /only https:\/\/ addresses are fetched/],
    ];
    for (const [url, message] of refusals) {
      const { code, err } = await project.raymond('trust', url, '--yes');
      expect([code, err]).toStrictEqual([64, expect.stringMatching(message)]);
    }
    expect((await project.raymond(`${origin}/flow.zip`)).code).toBe(64);
  });

  test('is called by a policy once it was fetched, and never by an answer alone', async () => {
    const { project, bytes, sha256 } = await makeZip();
    const origin = await serve((_, response) => void response.end(bytes));
    const url = `${origin}/flow-${sha256}.zip`;
    const other = `${origin}/other-${sha256}.zip`;
    const states = (named: string) => ({
      'START.md': `---\nallowed_transitions:\n  - { tag: call-workflow, target: "${named}", return: END.sh }\n---\nGo.`,
      'END.sh': 'echo "<result>$RAYMOND_RESULT</result>"',
    });
    writeWorkflow(project.cwd, 'named', states(url));
    writeWorkflow(project.cwd, 'open', { ...states(url), 'START.md': OPEN });
    const answer = (named: string) => `<call-workflow return="END" input="it">${named}</call-workflow>`;
    const replay = async (name: string, ...answers: readonly string[]) => {
      writeFileSync(
        join(project.cwd, 'a.yaml'),
        JSON.stringify({ answers: { START: answers.map((text) => ({ text })) } }),
      );
      return project.raymond(name, '--agent', 'replay:a.yaml', '--quiet');
    };
    const unfetched = await replay('named', answer(url));
    expect([unfetched.code, unfetched.err]).toStrictEqual([
      65,
      expect.stringContaining(`it has not been fetched yet: \`raymond trust ${url}\` fetches and trusts it`),
    ]);
    expect((await project.raymond('lint', 'named')).out).toContain('has not been fetched yet');
    for (const each of [url, other]) await project.raymond('trust', each, '--yes');
    expect(await replay('named', answer(url))).toMatchObject({ code: 0, out: 'fetched it\n' });
    expect((await project.raymond('lint', 'named')).code).toBe(0);
    // Both were fetched, but no policy names them.
    const named = await replay('open', answer(other));
    expect([named.code, named.err]).toStrictEqual([
      1,
      expect.stringContaining('it is not one of the workflows that this run may enter'),
    ]);
  });
});
