import { expect, test } from 'vitest';
import { Probes } from '../../src/turns/claude/probes.ts';

test('turns side by side meet one limit; the next one after it is the second', () => {
  const probes = new Probes();
  expect(probes.before(0)).toBe(0);
  probes.met(0, 300);
  expect(probes.before(10)).toBe(0);
  probes.met(10, 310);
  expect(probes.before(310)).toBe(1);
  probes.met(310, 900);
  expect(probes.before(900)).toBe(2);
});

test('only a turn that began after the limit proves that it is over', () => {
  const probes = new Probes();
  probes.met(0, 300);
  probes.passed(-5);
  expect(probes.before(300)).toBe(1);
  probes.passed(300);
  expect(probes.before(400)).toBe(0);
});
