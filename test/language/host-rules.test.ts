import { describe, expect, test } from 'vitest';
import { forwardedPorts, type HostRule, isNamedHost, parseHostRule } from '../../src/language/host-rules.ts';

describe('the rules for hosts', () => {
  test.each([
    ['registry.npmjs.org', { name: 'registry.npmjs.org', isWildcard: false, port: null }],
    ['*.Example.com', { name: 'example.com', isWildcard: true, port: null }],
    ['example.com:8443', { name: 'example.com', isWildcard: false, port: 8443 }],
    ['localhost:5432', { name: 'localhost', isWildcard: false, port: 5432 }],
    ['127.0.0.1:80', { name: '127.0.0.1', isWildcard: false, port: 80 }],
  ])('read %s', (text, rule) => {
    expect(parseHostRule(text)).toStrictEqual(rule);
  });

  test.each([
    ...[
      '',
      ' ',
      '*',
      '*.com',
      '*.localhost:80',
      'localhost',
      '127.0.0.1',
      '0.0.0.0',
      'a b',
      'https://example.com',
      'example.com/x',
    ],
    ...['example.com:0', 'example.com:70000', 'user@example.com', '-x.com', 'x..com', '[::1]:80', 'a*.example.com'],
  ])('refuse %j', (text) => {
    expect(parseHostRule(text)).toBeUndefined();
  });

  test.each([
    ['registry.npmjs.org', 443, true],
    ['REGISTRY.npmjs.org.', 80, true],
    ['registry.npmjs.org', 22, false],
    ['evil-registry.npmjs.org', 443, false],
    ['registry.npmjs.org.evil.com', 443, false],
    ['a.example.com', 443, true],
    ['a.b.example.com', 443, true],
    ['example.com', 443, false],
    ['badexample.com', 443, false],
    ['other.org', 8443, true],
    ['other.org', 443, false],
  ])('decide about %s:%i', (host, port, isNamed) => {
    expect(isNamedHost(rules('registry.npmjs.org', '*.example.com', 'other.org:8443'), host, port)).toBe(isNamed);
  });

  test('tell the ports of this machine', () => {
    expect(forwardedPorts(rules('localhost:5432', '127.0.0.1:5432', 'localhost:80', 'example.com:1'))).toStrictEqual([
      5432, 80,
    ]);
  });
});

const rules = (...texts: readonly string[]): readonly HostRule[] => texts.flatMap((text) => parseHostRule(text) ?? []);
