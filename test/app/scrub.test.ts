import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createScrubber, SECRET_MASK } from '../../src/app/record/scrub.ts';
import { isSecretName } from '../../src/language/secret-names.ts';

const ENV = {
  MY_API_KEY: 'correct-horse-battery',
  GITHUB_TOKEN: 'tok12345678',
  SSH_AUTH_SOCK: '/tmp/agent.sock',
  TOKEN_URL: 'https://example.org/token',
  PATH: '/usr/bin:/opt/tools/bin',
  SHORT_TOKEN: 'abc',
};

const scrub = createScrubber({
  folders: ['/srv/project/wt', '/srv/project'],
  home: '/home/ada',
  roots: ['work', 'srv', 'home', 'tmp', 'bin', 'usr', 'dev'],
  env: ENV,
});

describe('paths', () => {
  test.each([
    ['/srv/project/src/a.ts', 'src/a.ts'],
    ['/srv/project/wt/a.ts', 'a.ts'],
    ['I am in /srv/project.', 'I am in ..'],
    ['cd /srv/project && ls "/srv/project/"', 'cd . && ls "."'],
    ['/srv/project2/a.ts', '/elsewhere/a.ts'],
    ['/srv/project-old', '/elsewhere/project-old'],
    ['at run (/srv/project/src/a.ts:12:3)', 'at run (src/a.ts:12:3)'],
    ['file:///srv/project/a.ts', 'file://a.ts'],
    ['/home/ada/notes.txt and ~', '~/notes.txt and ~'],
    ['/home/ada', '~'],
    ['/home/grace/.ssh/config', '~/.ssh/config'],
    ['/Users/grace/x', '~/x'],
    ['C:\\Users\\Grace\\x.txt', '~\\x.txt'],
    ['D:\\data\\x.txt', '/elsewhere/x.txt'],
    ['/tmp/raymond-1/a.txt, /mnt/x', '/elsewhere/a.txt, /elsewhere/x'],
    ['PATH=/opt/tools/bin:/var/lib/x', 'PATH=/elsewhere/bin:/elsewhere/x'],
    ["open('/etc/passwd')", "open('/elsewhere/passwd')"],
    ['path="/tmp"', 'path="/elsewhere/tmp"'],
  ])('%s becomes %s', (text, clean) => {
    expect(scrub(text)).toBe(clean);
  });

  test.each([
    ['#!/bin/bash\n#!/usr/bin/env node\nx > /dev/null'],
    ['GET /api/users/1 and https://example.org/home/page and http://tmp/x'],
    ['<goto>RUN.sh</goto> </tmp> <result>a/b</result> 1/2/3'],
    ['src/home/x, ./tmp/y, ../var/z, a/tmp/b, ~/x'],
    ['/homework is not /tmpl, nor is /unknown/place'],
  ])('%s is unchanged', (text) => {
    expect(scrub(text)).toBe(text);
  });
});

describe('secrets', () => {
  test.each([
    ['sk-ant-api03-abcdefghijklmnop_qrst', SECRET_MASK],
    ['key sk-proj-0123456789abcdefABCDEF!', `key ${SECRET_MASK}!`],
    ['ghp_0123456789abcdef0123456789abcdef0123', SECRET_MASK],
    ['github_pat_11ABCDEFG0123456789_abcdefghij', SECRET_MASK],
    ['glpat-abcdefghij0123456789', SECRET_MASK],
    ['xoxb-123456789012-abcdefghij', SECRET_MASK],
    ['AKIAIOSFODNN7EXAMPLE', SECRET_MASK],
    ['npm_abcdefghijklmnopqrstuvwxyz0123456789', SECRET_MASK],
    ['Authorization: Bearer abc.def-ghi_123', `Authorization: Bearer ${SECRET_MASK}`],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-DEF_123', SECRET_MASK],
    ['postgres://ada:s3cret@db.example.org/x', `postgres://ada:${SECRET_MASK}@db.example.org/x`],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nrest', `${SECRET_MASK}\nrest`],
    ['STRIPE_API_KEY=abcd1234efgh', `STRIPE_API_KEY=${SECRET_MASK}`],
    ['"client_secret": "a1b2c3d4e5"', `"client_secret": "${SECRET_MASK}"`],
    ['password: hunter2hunter2', `password: ${SECRET_MASK}`],
    ['it was correct-horse-battery, and tok12345678', `it was ${SECRET_MASK}, and ${SECRET_MASK}`],
  ])('%s becomes %s', (text, clean) => {
    expect(scrub(text)).toBe(clean);
  });

  test.each([
    ['const token = readToken(input)'],
    ['token: string; secret?: boolean; password: FormControl'],
    ['max_tokens: 4096, tokens = 12345678'],
    ['commit 3f786850e387550fdab836ed7e6dc881de23001b'],
    ['the key to success is a password-less login'],
    ['abc'],
    ['risk-analysis-of-the-task'],
  ])('%s is not a secret', (text) => {
    expect(scrub(text)).toBe(text);
  });

  test.each([
    ['API_KEY', true],
    ['GITHUB_TOKEN', true],
    ['token', true],
    ['clientSecret', true],
    ['DB_PASSWORD', true],
    ['KEYBOARD', false],
    ['MONKEY', false],
    ['hint', false],
  ])('the variable %s is assumed to hold a secret: %s', (name, secret) => {
    expect(isSecretName(name)).toBe(secret);
  });
});

test('paths and secrets are removed in any context', () => {
  const around = fc.constantFrom('', ' ', '"', "'", '`', '(', ')', '\n', ',', ';', '<', '>', '|', '=');
  const part = fc.constantFrom('/srv/project/a', '/home/ada/b', '/tmp/c/d', 'tok12345678', 'x', '<result>');
  fc.assert(
    fc.property(fc.array(fc.tuple(around, part, around)), (parts) => {
      const clean = scrub(parts.flat().join(''));
      expect(clean).not.toMatch(/\/srv\/project|\/home\/ada|tok12345678/);
    }),
  );
});

test('scrubbing twice changes nothing', () => {
  const text = fc.array(fc.constantFrom('/srv/project/a', '/home/ada', '/tmp/x', 'tok12345678', '~', 'C:\\x', '/'));
  fc.assert(
    fc.property(text, (parts) => {
      const clean = scrub(parts.join(' '));
      expect(scrub(clean)).toBe(clean);
    }),
  );
});
