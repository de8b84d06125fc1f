import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/core/run/event.ts';
import { formatWarnings, WarningCollector } from '../../src/render/warnings.ts';
import { SAMPLE_EVENTS } from './sample-events.ts';

const ended = (agent: string, denials: readonly string[], state = 'WORK.md'): Event => {
  return { ...SAMPLE_EVENTS.turn_ended, agent, state, denials };
};
const linesOf = (events: readonly Event[], max = 5): readonly string[] => {
  const collector = new WarningCollector();
  for (const event of events) collector.observe(event);
  return formatWarnings(collector.warnings, max);
};
const ADVICE =
  'to permit it, put `allowed_tools: ["Bash(npm test)"]` into WORK.md, or choose another --permission-mode';

describe('the warnings of a run', () => {
  test('name what was denied once, however many agents it happened to', () => {
    const workers = Array.from({ length: 100 }, (_, at) => ended(`w${at}`, ['Bash(npm test)', 'Bash(npm test)']));
    expect(linesOf(workers)).toStrictEqual([
      `warning: Bash(npm test) was not permitted; ${ADVICE} (200 times by 100 agents)`,
    ]);
  });

  test('keep states apart, because each has its own permissions', () => {
    expect(linesOf([ended('a', ['Bash(npm test)']), ended('a', ['Bash(npm test)'], 'OTHER.md')])).toHaveLength(2);
  });

  test('have whatever was warned of, and conversations that were lost', () => {
    expect(linesOf([SAMPLE_EVENTS.warning, SAMPLE_EVENTS.session_lost, SAMPLE_EVENTS.agent_ended])).toStrictEqual([
      'warning: START.md: odd',
      'warning: START.md: a conversation could not be resumed: a new one was begun, which remembers nothing',
    ]);
  });

  test('are shown in part if they are many, and kept in part if they are very many', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => ended('a', [`Bash(${at})`]));
    const lines = linesOf([...many, ended('a', ['Bash(7)'])], 3);
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(/^warning: Bash\(7\) .* \(2 times\)$/);
    expect(lines[3]).toBe('warning: … and 997 more');
  });
});
