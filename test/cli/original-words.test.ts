import { describe, expect, test } from 'vitest';
import { COMMAND_NAMES, translateOriginalWords } from '../../src/cli/argv.ts';
import { newCliProject } from './cli-project.ts';
import { writeWorkflow } from './owners.ts';

describe("the original's command lines", () => {
  test.each<[string, string]>([
    ['wf --on-ask=pause', 'wf --on-ask=exit'],
    ['wf --on-ask reject', 'wf --on-ask fail'],
    ['wf --on-ask wait', 'wf --on-ask wait'],
    ['wf --workflow-id r1', 'wf --run-id r1'],
    ['run wf --workflow-id=r1', 'run wf --run-id r1'],
    ['--workflow-id r1 wf', '--run-id r1 wf'],
    ['wf --dangerously-skip-permissions=false', 'wf --no-dangerously-skip-permissions'],
    ['wf --dangerously-skip-permissions=true', 'wf --dangerously-skip-permissions'],
    ['--list', 'list'],
    ['-C sub --list', '-C sub list'],
    ['--status r1', 'status r1'],
    ['--status=r1 --json', 'status r1 --json'],
    ['--recover', 'recover'],
    ['lint --win wf', 'lint --platform windows wf'],
    ['convert wf --output wf.zip', 'convert wf wf.zip'],
    ['diagram wf --html', 'graph wf --html'],
    ['prune --status failed', 'prune --status failed'],
    ['graph wf --output a.svg', 'graph wf --output a.svg'],
    ['wf -- --workflow-id', 'wf -- --workflow-id'],
    ['wf --input --list', 'wf --input --list'],
    ['', ''],
  ])('%s means %s', (written, meant) => {
    const words = (line: string): readonly string[] => line.split(' ').filter((word) => word !== '');
    expect(translateOriginalWords(words(written), COMMAND_NAMES)).toStrictEqual(words(meant));
  });

  test('start, list, answer, resume and draw a run', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', {
      'START.sh': `echo '<ask next="NEXT">Well?</ask>'`,
      'NEXT.sh': 'echo "<result>$RAYMOND_INPUT</result>"',
    });
    expect(await raymond('wf', '--workflow-id', 'r1', '--on-ask=pause', '--quiet')).toMatchObject({ code: 2 });
    expect((await raymond('--list')).out).toContain('r1');
    expect((await raymond('--status', 'r1')).out).toContain('asks (main-1): Well?');
    expect(await raymond('--resume', 'r1', '--input', 'Yes')).toMatchObject({ code: 0, out: 'Yes\n' });
    expect((await raymond('diagram', 'wf')).out).toContain('START');
    expect(await raymond('wf', '--on-ask=reject', '--quiet')).toMatchObject({ code: 1 });
    expect(await raymond('convert', 'wf', '--output', 'wf.zip')).toMatchObject({ code: 0 });
  });
});
