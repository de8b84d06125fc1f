import { describe, expect, test } from 'vitest';
import { parseClaudeLine } from '../../../src/turns/claude/event.ts';
import { readQuotaWindows } from '../../../src/turns/claude/usage-limit.ts';

const AT = 1_794_930_000_000;

function read(info: object) {
  const event = parseClaudeLine(JSON.stringify({ type: 'rate_limit_event', rate_limit_info: info }));
  return event.kind === 'rate_limit' ? readQuotaWindows(event, AT) : event;
}

describe('the windows of a subscription', () => {
  test('are all read as 2.1.325 reports them', () => {
    const info = {
      status: 'allowed_warning',
      resetsAt: 1794935949,
      rateLimitType: 'five_hour',
      utilization: 0.93,
      overageStatus: 'rejected',
      isUsingOverage: false,
      unifiedWindows: {
        five_hour: { utilization: 0.93, resetsAt: 1794935949, status: 'allowed' },
        seven_day: { utilization: 0.3117, resetsAt: 1795228749, status: 'allowed' },
      },
    };
    expect(read(info)).toStrictEqual({
      five_hour: { percent: 93, status: 'allowed', resetsAtMs: 1794935949000, reportedAt: AT },
      seven_day: { percent: 31.17, status: 'allowed', resetsAtMs: 1795228749000, reportedAt: AT },
    });
  });

  test('are read one at a time as 2.1.197 reports them, with a share only when it warns', () => {
    const window = { resetsAt: 1794935949, rateLimitType: 'five_hour', isUsingOverage: false };
    const read197 = (more: object) => Object.values(read({ ...window, ...more }))[0];
    expect(read197({ status: 'allowed' })).toMatchObject({ percent: null, status: 'allowed' });
    expect(read197({ status: 'allowed_warning', utilization: 0.57 })).toMatchObject({ percent: 57 });
    expect(read197({ status: 'rejected' })).toMatchObject({ percent: 100, status: 'rejected' });
  });

  test('of one model say nothing about turns of others when they are full', () => {
    const info = { status: 'rejected', resetsAt: 1794935949, rateLimitType: 'seven_day_opus' };
    expect(read(info)).toMatchObject({ seven_day_opus: { percent: null, status: 'rejected' } });
  });

  test.each([
    ['no reset', { status: 'allowed', rateLimitType: 'five_hour', utilization: 0.5 }],
    ['a reset that is none', { status: 'allowed', rateLimitType: 'five_hour', resetsAt: -5 }],
    ['no type', { status: 'allowed', resetsAt: 1794935949, utilization: 0.5 }],
    ['windows that are none', { status: 'allowed', unifiedWindows: { five_hour: 7, seven_day: { resetsAt: 'x' } } }],
    ['no windows at all', { status: 'allowed', unifiedWindows: [] }],
  ])('with %s are not known', (_what, info) => {
    expect(read(info)).toStrictEqual({});
  });

  test.each([-3, Number.MAX_VALUE, 'much'])('with a share of %s are known without it', (utilization) => {
    const info = { status: 'odd', resetsAt: 1794935949, rateLimitType: 'seven_day', utilization };
    expect(read(info)).toMatchObject({ seven_day: { percent: null, status: 'allowed' } });
  });
});
