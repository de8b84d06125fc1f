import { describe, expect, test } from 'vitest';
import { promptVariables } from '../../src/core/run/variables.ts';
import { isTaskFolderPattern } from '../../src/core/run/work-folders.ts';
import { due } from '../../src/core/turns/due.ts';
import type { PolicyEntry } from '../../src/language/policy.ts';
import { RunDriver } from './run-driver.ts';

const FILES = ['START.md', 'A.md', 'B.md', 'WORK.md'];

function newDriver(policy: readonly PolicyEntry[] = []): RunDriver {
  const driver = new RunDriver({ files: FILES, rules: { 'START.md': { policy } } });
  driver.run = { ...driver.run, workFolders: { run: '/t/run-1/shared', task: '/t/run-1/{{agent_id}}' } };
  return driver;
}

/** The task folder of an agent's next turn. */
const folderOf = ({ run }: RunDriver, agent = 'main'): string | null | undefined => {
  const turn = due(run).find((each) => each.agent === agent);
  return turn === undefined || !('taskFolder' in turn) ? undefined : turn.taskFolder;
};

describe('the task folder', () => {
  test('is that of the agent, and stays the same from state to state', () => {
    const driver = newDriver();
    expect(folderOf(driver)).toBe('/t/run-1/main');
    for (const tag of ['<goto>A</goto>', '<reset>B</reset>', '<call return="A">B</call>']) driver.answer(tag);
    expect(folderOf(driver)).toBe('/t/run-1/main');
  });

  test('is new after `<reset task="new">`, each time', () => {
    const driver = newDriver().answer('<reset task="new">A</reset>');
    expect(folderOf(driver)).toBe('/t/run-1/main.1');
    driver.answer('<goto>A</goto>', '<reset task="new">A</reset>');
    expect(folderOf(driver)).toBe('/t/run-1/main.3');
    expect(driver.eventsOf('warning')).toStrictEqual([]);
  });

  test("is the caller's again after a result", () => {
    const driver = newDriver().answer('<function return="A">B</function>', '<reset task="new">B</reset>');
    expect(folderOf(driver)).toBe('/t/run-1/main.2');
    expect(folderOf(driver.answer('<result>r</result>'))).toBe('/t/run-1/main');
    driver.answer('<reset task="new">A</reset>', '<call return="A">B</call>', '<reset task="new">B</reset>');
    expect(folderOf(driver.answer('<result>r</result>'))).toBe('/t/run-1/main.4');
  });

  test('of a worker is its own, or with `task="inherit"` its parent\'s, also that of a new task', () => {
    const driver = newDriver().answer('<fork next="A">WORK</fork><fork next="A" task="inherit" item="i">WORK</fork>');
    expect([folderOf(driver, 'main_work1'), folderOf(driver, 'main_work2')]).toStrictEqual([
      '/t/run-1/main_work1',
      '/t/run-1/main',
    ]);
    expect(driver.agent('main_work2').variables).toStrictEqual({ item: 'i' });
    driver.answer('<reset task="new">A</reset>', '<fork next="A" task="inherit">WORK</fork>');
    expect(folderOf(driver, 'main_work3')).toBe('/t/run-1/main.2');
  });

  test('is in the variables of prompts, beside the folder of the run', () => {
    const driver = newDriver().answer('<reset task="new">A</reset>');
    expect(promptVariables(driver.run, driver.agent())).toMatchObject({
      task_folder: '/t/run-1/main.1',
      run_folder: '/t/run-1/shared',
    });
  });

  test('comes with a resume if the state file is older than task folders', () => {
    const driver = new RunDriver({ files: FILES });
    expect(folderOf(driver)).toBeNull();
    driver.apply({ kind: 'stopped', at: 1, by: 'stopped' });
    const workFolders = { run: '/t/shared', task: '/t/{{agent_id}}' };
    driver.apply({ kind: 'resumed', at: 2, options: {}, retry: false, lookedUp: {}, workFolders });
    expect(folderOf(driver)).toBe('/t/main');
    driver.apply({
      kind: 'resumed',
      at: 3,
      options: {},
      retry: false,
      lookedUp: {},
      workFolders: { run: '/u', task: '/u' },
    });
    expect(folderOf(driver)).toBe('/t/main');
  });
});

describe('`task`', () => {
  test('is a variable of the worker with any other value', () => {
    const driver = newDriver().answer('<fork next="A" task="write">WORK</fork><fork next="A" task="new">WORK</fork>');
    expect(driver.agent('main_work1').variables).toStrictEqual({ task: 'write' });
    expect(driver.agent('main_work2').variables).toStrictEqual({ task: 'new' });
    expect(driver.eventsOf('transition')[0]?.tags[0]?.attributes).toStrictEqual({ next: 'A.md', task: 'write' });
  });

  test.each([
    ['goto', 'new'],
    ['reset', 'old'],
  ])('on <%s> with the value %s means nothing', (tag, value) => {
    const driver = newDriver().answer(`<${tag} task="${value}">A</${tag}>`);
    expect(folderOf(driver)).toBe('/t/run-1/main');
    expect(driver.eventsOf('warning').map(({ message }) => message)).toStrictEqual([
      `\`<${tag}>A</${tag}>\` (line 1): \`task\` means nothing on <${tag}> and is ignored`,
    ]);
  });

  test('in a policy must be matched, and goes along with an implicit transition', () => {
    const policy = [{ tag: 'reset', target: 'A.md', attributes: { task: 'new' } }] as const;
    expect(folderOf(newDriver(policy).answer('no tag'))).toBe('/t/run-1/main.1');
    expect(newDriver(policy).answer('<reset>A</reset>').eventsOf('reminded')[0]?.problem).toBe('not_permitted');
  });

  test('is on record in the transition', () => {
    const driver = newDriver().answer('<reset task="new">A</reset>');
    expect(driver.eventsOf('transition')[0]?.tags[0]?.attributes).toStrictEqual({ task: 'new' });
  });
});

test.each([
  ['.raymond/tasks/{{workflow_id}}/{{agent_id}}', true],
  ['/tmp/{{ workflow_id }}-{{agent_id}}', true],
  ['tasks/{{agent_id}}', false],
  ['tasks/{{workflow_id}}', false],
])('%s is a pattern of task folders: %s', (pattern, expected) => {
  expect(isTaskFolderPattern(pattern)).toBe(expected);
});
