import { expect, test } from 'vitest';
import { LimitBackoff } from '../../../src/turns/claude/usage-limit.ts';

test('parallel turns count as one limit; the next one after it is the second', () => {
  const probes = new LimitBackoff();
  expect(probes.priorLimits(0)).toBe(0);
  probes.recordLimit(0, 300);
  expect(probes.priorLimits(10)).toBe(0);
  probes.recordLimit(10, 310);
  expect(probes.priorLimits(310)).toBe(1);
  probes.recordLimit(310, 900);
  expect(probes.priorLimits(900)).toBe(2);
});

test('only a turn that began after the limit proves that it has ended', () => {
  const probes = new LimitBackoff();
  probes.recordLimit(0, 300);
  probes.recordSuccess(-5);
  expect(probes.priorLimits(300)).toBe(1);
  probes.recordSuccess(300);
  expect(probes.priorLimits(400)).toBe(0);
});
