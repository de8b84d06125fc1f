import { describe, expect, test } from 'vitest';
import { wrongWith } from './rig.ts';

describe('the prompts of one agent', () => {
  const states = {
    'START.sh': `echo '<fork item="x">W</fork><fork item="y">W</fork><goto>END</goto>'`,
    'END.sh': 'echo "<result>e</result>"',
    'W.md': 'Work on {{item}}. Say <result>done</result> or <goto>W.md</goto>.',
  };
  const scenario = (prompts: string): string => `
answers:
  START: '<fork item="x">W</fork><fork item="y">W</fork><goto>END</goto>'
  END: <result>e</result>
  W: [<goto>W.md</goto>, <result>d</result>]
expect:
  prompts:
    ${prompts}`;

  test('are compared without those of other agents', async () => {
    const wanted = `W: { contains: Work }
    main_w1/W: { contains: Work on x }
    main_w2/W.md: [{ contains: Work on y }, { lacks: x }]`;
    expect(await wrongWith(states, scenario(wanted))).toStrictEqual([]);
  });

  test.each([
    ['main_w1/W: [{ contains: x }]', 'the number of visits to W.md by main_w1: 1, not 2'],
    ['main_w1/W: [{ contains: on }, x]', 'the prompt of W.md, visit 2 by main_w1,: "x", not '],
    ['main/W: x', 'the prompt of W.md: W.md is never entered by main'],
    ['main_w3/W: x', 'main_w3: there is no agent main_w3 (did you mean main_w1?)'],
  ])('%s', async (wanted, wrong) => {
    expect(await wrongWith(states, scenario(wanted))).toStrictEqual([expect.stringContaining(`8:5 ${wrong}`)]);
  });

  test.each([
    ['main_w1/N: x', '8:5: there is no state `N` in this workflow'],
    ['main_w1/START: x', '8:5: `START.sh` is a script and is sent no prompt: it does not belong here'],
    ['{ main_w1/W: x, main_w1/W.md: x }', '8:21: `main_w1/W.md` is main_w1/W.md again: keep one of them'],
    ['a/b/W: x', '8:5: `b/W` contains `/`: name a state of this workflow, not a path'],
  ])('%s is refused', async (wanted, wrong) => {
    await expect(wrongWith(states, scenario(wanted))).rejects.toThrow(wrong);
  });
});
