/** The same promises with the real Claude Code, whose model writes the files itself. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { getAgent } from '../../src/core/run/run.ts';
import { type Rig, resumeToEnd, runToEnd, setUp, textReply, withEachClaude } from '../e2e/rig.ts';
import { EVIL } from './canned-attack.ts';

const OK = "echo '<result>ok</result>'\n";

/** Where the workflow is, seen from the rig's folder of states and from where the agents work. */
const PLACES = [
  ['inside the project', '../work/flows/main', 'flows'],
  ['outside the project', '../flows/main', '../flows'],
] as const;

/** The file tools may write to the workflow, so that only the pins are left to hold. */
const OPTIONS = { editWorkflows: true };
const START = '---\nallowed_tools: [Write, Edit, Read]\n---\nI am START';

const write = (file: string, content = EVIL): string => `«tool Write ${JSON.stringify({ file_path: file, content })}»`;

const isPwned = ({ cwd }: Rig): boolean => existsSync(join(cwd, 'pwned'));

const pauseOf = async (run: ReturnType<typeof runToEnd>): Promise<unknown> => getAgent(await run, 'main').phase;

withEachClaude('code that the model writes', (pinned) => {
  const prepare = (
    context: Parameters<typeof setUp>[0],
    workflow: string,
    states: Record<string, string>,
  ): Promise<Rig> =>
    setUp(context, pinned, {
      states: Object.fromEntries(Object.entries(states).map(([file, text]) => [join(workflow, file), text])),
      workflow,
      script: ({ prompt }) => (prompt.includes('may enter') ? textReply('<result>reminded</result>') : undefined),
      options: OPTIONS,
    });

  for (const [place, workflow, path] of PLACES) {
    test(`does not run as a script that it replaced, ${place}`, async (context) => {
      const rig = await prepare(context, workflow, {
        'START.md': `${START} «tool Read ${JSON.stringify({ file_path: `${path}/main/GATE.sh` })}» ${write(`${path}/main/GATE.sh`)} «say <goto>GATE</goto>»`,
        'GATE.sh': OK,
      });
      expect(await pauseOf(runToEnd(rig))).toMatchObject({
        kind: 'paused',
        why: 'changed_code',
        message: expect.stringContaining('GATE.sh has changed since the run first read it'),
      });
      expect(await pauseOf(resumeToEnd(rig))).toMatchObject({ why: 'changed_code' });
      expect(isPwned(rig)).toBe(false);
    });

    test(`does not run as a package that a script loads, ${place}`, async (context) => {
      const packages = ['node_modules/a/index.bash', 'lib/node_modules/@a/b/index.bash', '.venv/lib/a.bash'];
      const rig = await prepare(context, workflow, {
        'START.md': `${START} ${packages.map((file) => write(`${path}/main/${file}`)).join(' ')} «say <goto>GATE</goto>»`,
        'GATE.sh': `${packages.map((file) => `. "$(dirname "$0")/${file}" 2>/dev/null`).join('\n')}\n${OK}`,
      });
      expect(await pauseOf(runToEnd(rig))).toStrictEqual({ kind: 'ended', result: 'ok' });
      expect(isPwned(rig)).toBe(false);
    });

    test(`does not run as a workflow that it names, ${place}`, async (context) => {
      const rig = await prepare(context, workflow, {
        'START.md': `${START}, for <call-workflow> ${write(`${path}/evil/START.sh`)} «say <call-workflow return="BACK.sh">../evil</call-workflow>»`,
        'BACK.sh': OK,
      });
      expect(await pauseOf(runToEnd(rig))).toStrictEqual({ kind: 'ended', result: 'reminded' });
      expect(existsSync(join(rig.cwd, path, 'evil/START.sh'))).toBe(true);
      expect(isPwned(rig)).toBe(false);
    });

    test(`gets no further tools by frontmatter that it wrote, ${place}`, async (context) => {
      const widened =
        '---\nallowed_tools: [Bash]\n---\nI am NEXT «tool Bash {"command":"touch pwned"}» «say <result>x</result>»';
      const rig = await prepare(context, workflow, {
        'START.md': `${START} «tool Read ${JSON.stringify({ file_path: `${path}/main/NEXT.md` })}» ${write(`${path}/main/NEXT.md`, widened)} «say <goto>NEXT</goto>»`,
        'NEXT.md': 'I am NEXT «say <result>x</result>»',
      });
      expect(await pauseOf(runToEnd(rig))).toMatchObject({
        why: 'changed_code',
        message: expect.stringContaining('the frontmatter of '),
      });
      expect(isPwned(rig)).toBe(false);
    });
  }

  test('does not run after kill -9 while it was written', async (context) => {
    const rig = await prepare(context, '../work/flows/main', {
      'START.md': `${START} ${write('flows/main/hooks/evil.sh', 'touch pwned\n')} «delay 3000» «say <goto>GATE</goto>»`,
      'GATE.sh': `for hook in "$(dirname "$0")"/hooks/*.sh; do . "$hook"; done\n${OK}`,
    });
    await rig.startAndKill('I am START', 'flows/main/hooks/evil.sh');
    expect(await pauseOf(resumeToEnd(rig, OPTIONS))).toMatchObject({
      why: 'changed_code',
      message: expect.stringContaining('hooks/evil.sh is new to the run'),
    });
    expect(isPwned(rig)).toBe(false);
  });
});
