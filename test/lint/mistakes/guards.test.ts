import { describe } from 'vitest';
import { bash, check, END } from './check.ts';

const script = (frontmatter: readonly string[], ...lines: readonly string[]): string =>
  bash('# ---', ...frontmatter.map((line) => `# ${line}`), '# ---', ...lines);
const prompt = (frontmatter: string, body = END): string => `---\n${frontmatter}\n---\n${body}`;
const RESULT = 'echo "<result>x</result>"';

describe('guards:', () =>
  check([
    [
      'each outcome of a prompt leads to a state',
      { 'START.md': prompt('on: { error: FIX }'), 'FIX.md': `{{error}} ${END}` },
      [],
    ],
    [
      'a script prints nothing and continues',
      { 'START.sh': script(['on: { no_tag: FIX }'], 'make'), 'FIX.md': `{{error}} ${END}` },
      [],
    ],
    [
      'a path of a script prints nothing, and that is caught',
      { 'START.sh': script(['on: { no_tag: FIX }'], `if make; then ${RESULT}; fi`), 'FIX.md': END },
      [],
    ],
    [
      'a script of which nothing is known but that it may fail',
      { 'START.sh': script(['on: { error: FIX }'], 'exit 1'), 'FIX.md': END },
      ['no-way-out START.sh:1:1'],
    ],
    [
      'a state that does not exist',
      { 'START.md': prompt('on: { error: FXI }'), 'FIX.md': END },
      ['missing-state START.md:2:14'],
    ],
    [
      'the same in a script',
      { 'START.sh': script(['on: { error: NOWHERE }'], RESULT) },
      ['missing-state START.sh:3:16'],
    ],
    [
      'an outcome that does not exist',
      { 'START.md': prompt('on: { eror: FIX }'), 'FIX.md': END },
      ['key-without-effect START.md:2:7'],
    ],
    ['no mapping', { 'START.md': prompt('on: FIX') }, ['frontmatter START.md:2:5']],
    [
      'outcomes that a script cannot have',
      { 'START.sh': script(['on: { denied: FIX, too_long: FIX, error: FIX }'], RESULT), 'FIX.md': END },
      ['key-without-effect START.sh:3:17', 'key-without-effect START.sh:3:32'],
    ],
    [
      'guards of limits that are not set',
      {
        'START.md': prompt('on: { max_visits: FIX, stuck: FIX }\nmax_visits_per: call\nstuck_files: a'),
        'FIX.md': END,
      },
      [
        'key-without-effect START.md:2:19',
        'key-without-effect START.md:2:31',
        'key-without-effect START.md:3:17',
        'key-without-effect START.md:4:14',
      ],
    ],
    ['a limit without a guard', { 'START.md': prompt('max_visits: 3\nstuck_after: 2\nmax_visits_per: call') }, []],
    [
      '{{error}} where no guard leads',
      { 'START.md': 'Mend {{error}}, then <result>x</result>.' },
      ['undefined-variable START.md:1:6'],
    ],
    [
      'a loop through a guard that nothing leads out of',
      {
        'START.sh': script(['on: { error: FIX }'], 'make && echo "<goto>FIX</goto>"'),
        'FIX.md': prompt('on: { error: START }', 'Mend, then <goto>START</goto>.'),
      },
      ['endless-loop START.sh:5:15'],
    ],
    [
      'a loop that only a guard leads out of',
      {
        'START.sh': script(['max_visits: 3', 'on: { max_visits: END }'], 'echo "<goto>START</goto>"'),
        'END.md': END,
      },
      [],
    ],
    [
      'a limit that leads back into its own loop',
      {
        'START.sh': script(['max_visits: 3', 'on: { max_visits: NEXT }'], 'echo "<goto>NEXT</goto>"'),
        'NEXT.sh': bash('echo "<goto>START</goto>"'),
      },
      ['endless-loop START.sh:6:7'],
    ],
    [
      'a limit per call does not end a recursion',
      {
        'START.sh': script(['max_visits: 3', 'max_visits_per: call'], 'echo "<call return=START>START</call>"'),
      },
      ['endless-recursion START.sh:6:7'],
    ],
    [
      'a limit per call ends a loop',
      { 'START.sh': script(['max_visits: 3', 'max_visits_per: call'], 'echo "<goto>START</goto>"') },
      ['ends-only-by-limit START.sh:6:7'],
    ],
  ]));
