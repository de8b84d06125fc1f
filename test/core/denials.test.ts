import { describe, expect, test } from 'vitest';
import { adviseOnDenials, explainDenials, mergeDenials } from '../../src/core/run/denials.ts';
import { RunDriver } from './run-driver.ts';

test.each([
  [['Bash(npm test)'], '"Bash(npm test)"'],
  [['Bash(npm test)', 'Bash(npm test)'], '"Bash(npm test)"'],
  [['Bash(say "hi")'], '"Bash(say \\"hi\\")"'],
  [['Bash(a long command…)'], '"Bash"'],
  [['Write(/etc/hosts)', 'Edit(/etc/hosts)'], '"Write", "Edit"'],
  [['mcp__db__query'], '"mcp__db__query"'],
  [['A', 'B', 'C', 'D'], '"A", "B", "C"'],
])('%j is permitted by allowed_tools: [%s]', (denials, rules) => {
  expect(adviseOnDenials('WORK.md', denials)).toBe(
    `to permit it, put \`allowed_tools: [${rules}]\` into WORK.md, or choose another --permission-mode`,
  );
});

test.each([
  'Write(/a/.raymond/state/x.json)',
  'Edit(.mcp.json)',
  'Bash(mv .raymond x)',
  'Write(sub/.claude/settings.json)',
])('%s is never permitted', (denial) => {
  expect(adviseOnDenials('WORK.md', [denial])).toBe('agents may not write there, as docs/security.md explains');
  expect(adviseOnDenials('WORK.md', [denial, 'Bash(npm test)'])).toMatch(/^to permit it, .*\["Bash\(npm test\)"\]/);
});

test('only a few denials are named, and only as many are kept', () => {
  const many = Array.from({ length: 100 }, (_, at) => `Bash(${at})`);
  expect(explainDenials('A.md', many)).toMatch(/^Bash\(0\), Bash\(1\), Bash\(2\) and 97 more were not permitted: /);
  expect(mergeDenials(['Bash(1)'], many)).toHaveLength(10);
});

describe('an agent whose tool was denied', () => {
  const files = { files: ['START.md', 'NEXT.md'] };
  const denied = { text: 'I could not run the tests.', denials: ['Bash(npm test)'] };
  const advice =
    'Bash(npm test) was not permitted: to permit it, put `allowed_tools: ["Bash(npm test)"]` into START.md, or choose another --permission-mode';

  test('and that gives no tag fails because of the tool, not because of the tag', () => {
    const driver = new RunDriver(files).answer(denied).answer('Still not.');
    expect(driver.agent().phase).toStrictEqual({
      kind: 'failed',
      message: `START.md: no valid answer after 1 reminder; ${advice}`,
    });
  });

  test('and that fails for another reason is told about the tool, too', () => {
    const driver = new RunDriver(files).answer({
      fail: { kind: 'max_turns', message: 'too many steps' },
      denials: denied.denials,
    });
    expect(driver.agent().phase).toStrictEqual({ kind: 'failed', message: `START.md: too many steps; ${advice}` });
  });

  test('is not told about it in its next state', () => {
    const driver = new RunDriver(files)
      .answer({ ...denied, text: '<goto>NEXT</goto>' })
      .answer('hm')
      .answer('hm');
    expect(driver.agent().phase).toMatchObject({
      message: 'NEXT.md: no valid answer after 1 reminder: it contains no tag',
    });
  });
});
