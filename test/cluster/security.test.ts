import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PostgresServer } from '../postgres/server.ts';
import { Fleet } from './fleet.ts';

let server: PostgresServer;
let fleet: Fleet;
let keys: string;

const openssl = (...args: readonly string[]): void =>
  void execFileSync('openssl', [...args], { cwd: keys, stdio: 'ignore' });

/** A certificate for a name, by an authority of our own. */
function certify(name: string): void {
  openssl(
    'req',
    '-new',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    `/CN=${name}`,
  );
  writeFileSync(join(keys, `${name}.ext`), `subjectAltName=DNS:${name}\n`);
  openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    '-CA',
    'ca.crt',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-out',
    `${name}.crt`,
    '-extfile',
    `${name}.ext`,
  );
}

async function serveWith(name: string): Promise<void> {
  await fleet.database.query(`alter system set ssl_cert_file = '${join(keys, `${name}.crt`)}'`);
  await fleet.database.query(`alter system set ssl_key_file = '${join(keys, `${name}.key`)}'`);
  await fleet.database.query('alter system set ssl = on');
  await fleet.database.query('select pg_reload_conf()');
  await expect.poll(async () => (await fleet.database.query<{ ssl: string }>('show ssl'))[0]?.ssl).toBe('on');
}

beforeAll(async () => {
  server = await PostgresServer.start();
  fleet = await Fleet.open(server);
  fleet.write({ 'hello/START.sh': '#!/bin/bash\necho "<result>hello</result>"\n' });
  keys = mkdtempSync(join(tmpdir(), 'raymond-tls-'));
  chmodSync(keys, 0o755);
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-subj',
    '/CN=ours',
    '-days',
    '2',
  );
  for (const name of ['localhost', 'elsewhere']) {
    certify(name);
    // PostgreSQL wants the key for itself.
    if (process.getuid?.() === 0) chownSync(join(keys, `${name}.key`), 65_534, 65_534);
    chmodSync(join(keys, `${name}.key`), 0o600);
  }
});

afterAll(async () => {
  await fleet.close();
  await server.stop();
  rmSync(keys, { recursive: true, force: true });
});

const addressWith = (query: string): string => `${fleet.address.replace('127.0.0.1', 'localhost')}?${query}`;

describe('a database behind TLS', () => {
  test('is reached by worker and commands if its certificate is that of its name, and else by nobody', async () => {
    expect(readFileSync(join(keys, 'localhost.crt'), 'utf8')).toContain('BEGIN CERTIFICATE');
    await serveWith('localhost');
    const safe = addressWith(`sslmode=verify-full&sslrootcert=${join(keys, 'ca.crt')}`);
    const worker = fleet.start(['worker', '--name', 'one', '--folder', join(fleet.folder, 'one'), '--database', safe]);
    await worker.says('is ready');
    expect(await fleet.run('run', 'hello', '--database', safe)).toMatchObject({ code: 0, out: 'hello\n' });
    const open = await fleet.database.query(
      `select application_name from pg_stat_activity join pg_stat_ssl using (pid)
       where datname = current_database() and not ssl and client_port is not null and pid <> pg_backend_pid()`,
    );
    expect(open).toStrictEqual([]);
    expect(await fleet.database.query('select 1 from pg_stat_ssl where ssl')).not.toHaveLength(0);
    expect((await worker.kill('SIGTERM')).code).toBe(0);
    expect(worker.err).not.toMatch(/Warning/i);
    const unknown = await fleet.run('list', '--database', addressWith('sslmode=verify-full'));
    expect(unknown).toMatchObject({ code: 64, out: '' });
    expect(unknown.err).toMatch(
      /There is no safe connection to the database .*certificate.*\nCheck sslmode and sslrootcert/,
    );
    await serveWith('elsewhere');
    const other = await fleet.run('list', '--database', safe);
    expect(other).toMatchObject({ code: 64, out: '' });
    expect(other.err).toMatch(/There is no safe connection to the database .*localhost.*\nCheck sslmode/);
    expect(other.err + unknown.err).not.toContain(server.password);
  });
});

describe('what is stored', () => {
  test('has neither the address of the database nor a variable of a worker', async () => {
    const secret = 'sentinel-of-the-environment';
    const env = { ANTHROPIC_API_KEY: secret, GITHUB_TOKEN: secret };
    const worker = fleet.start(['worker', '--name', 'two', '--folder', join(fleet.folder, 'two')], env);
    await worker.says('is ready');
    fleet.write({
      'all/START.md': 'Plan it.\n',
      'all/ASK.sh': '#!/bin/bash\necho "${RAYMOND_DATABASE-no address}"\necho "<ask next=\\"END.sh\\">Which?</ask>"\n',
      'all/END.sh': '#!/bin/bash\necho "<result>done</result>"\n',
      'answers.yaml': 'answers:\n  START.md: "<goto>ASK.sh</goto>"\n',
    });
    const args = ['run', 'all', '--run-id', 'told', '--agent', 'replay:answers.yaml', '--on-ask', 'wait'];
    const following = fleet.run(...args);
    await expect.poll(async () => (await fleet.run('asks')).out, { timeout: 20_000 }).toContain('Which?');
    await fleet.run('say', 'told', 'Be brief');
    await fleet.run('answer', 'told', 'this');
    expect(await following).toMatchObject({ code: 0, out: 'done\n' });
    expect((await fleet.run('logs', 'told')).out).toContain('no address');
    const stored = await readEverything();
    expect(stored).toContain('Be brief');
    expect(stored).toContain('no address');
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(server.password);
  });
});

/** All rows of all tables as text, with what is packed in them. */
async function readEverything(): Promise<string> {
  const tables = await fleet.database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema in ('raymond', 'raymond_dbos') and table_type = 'BASE TABLE'`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    for (const row of await fleet.database.query(`select * from ${name}`)) {
      texts.push(JSON.stringify(row));
      for (const value of Object.values(row)) if (Buffer.isBuffer(value)) texts.push(...unpack(value));
    }
  }
  return texts.join('\n');
}

/** A packed value, and the texts that are encoded in it once more. */
function unpack(value: Buffer): readonly string[] {
  const text = value[0] === 0x1f ? gunzipSync(value).toString('utf8') : value.toString('utf8');
  const encoded = text.matchAll(/"([A-Za-z0-9+/]{8,}={0,2})"/g);
  return [text, ...Array.from(encoded, ([, part = '']) => Buffer.from(part, 'base64').toString('utf8'))];
}
