import { describe } from 'vitest';
import { bash, check, END } from './check.ts';

const head = (...keys: string[]): string => `---\n${keys.join('\n')}\n---\n`;
const WORK = 'Work, then answer <goto>DONE</goto> or <goto>START</goto>.\n';
const LIMITED = 'max_visits: 3';

describe('evaluators:', () =>
  check([
    [
      'all three kinds are no states that nothing leads to, and need no way out of their own',
      {
        'START.md': `${head(LIMITED, 'evaluator:', '  - { match: TODO, then: { tag: goto, target: START } }', '  - { script: GATE.sh }', '  - { prompt: JUDGE }')}${WORK}`,
        'GATE.sh': bash('grep -q ok "$RAYMOND_OUTPUT_FILE" || echo "<goto>START</goto>"'),
        'JUDGE.md': 'Is {{output}} enough for {{transition}}? Answer <confirm></confirm> or <goto>START</goto>.\n',
        'DONE.md': END,
      },
      [],
    ],
    [
      'one that is missing, is a state of the other kind, has a bad pattern or a transition that is not permitted',
      {
        'START.md': `${head('allowed_transitions: [{ tag: goto, target: DONE }, { tag: goto, target: START }]', LIMITED, 'evaluator:', '  - { script: GAET.sh }', '  - { prompt: GATE.sh }', '  - { match: "(", then: { tag: result, payload: x } }')}${WORK}`,
        'GATE.sh': bash('exit 0'),
        'DONE.md': END,
      },
      [
        'bad-evaluator START.md:5:15',
        'bad-evaluator START.md:6:15',
        'bad-evaluator START.md:7:14',
        'bad-evaluator START.md:7:25',
      ],
    ],
    [
      'one that overrides with what its state does not permit',
      {
        'START.md': `${head('allowed_transitions: [{ tag: goto, target: DONE }, { tag: result }]', 'evaluator: { script: GATE.sh }')}Work, then answer <goto>DONE</goto> or <result>x</result>.\n`,
        'GATE.sh': bash('test -e ok || echo "<goto>START</goto>"'),
        'DONE.md': END,
      },
      ['forbidden-tag GATE.sh:2:21'],
    ],
    [
      'an entry of the policy that only an evaluator uses',
      {
        'START.md': `${head('allowed_transitions: [{ tag: goto, target: DONE }, { tag: goto, target: FIX }]', 'evaluator: { unless: ok, then: { tag: goto, target: FIX } }')}Work, then answer <goto>DONE</goto>.\n`,
        'FIX.md': END,
        'DONE.md': END,
      },
      [],
    ],
    [
      'keys that have no effect in one',
      {
        'START.md': `${head(LIMITED, 'evaluator: { prompt: JUDGE.md }')}${WORK}`,
        'JUDGE.md': `${head('model: haiku', 'allowed_transitions: [{ tag: goto, target: DONE }]', 'max_visits: 2')}Judge {{output}}: <confirm></confirm> or <goto>DONE</goto>.\n`,
        'DONE.md': END,
      },
      ['key-without-effect JUDGE.md:3:22', 'key-without-effect JUDGE.md:4:13'],
    ],
    [
      'a loop that only an evaluator closes has an end, but no limit',
      {
        'START.md': `${head('evaluator: { match: TODO, then: { tag: reset, target: START } }')}${END}`,
      },
      [],
    ],
    [
      'a state that is an evaluator elsewhere is checked as a state',
      {
        'START.md': `${head('evaluator: { prompt: JUDGE.md }')}Work, then answer <goto>JUDGE</goto>.\n`,
        'JUDGE.md': 'Judge {{output}}. Answer <result>x</result>.\n',
      },
      ['undefined-variable JUDGE.md:1:7'],
    ],
  ]));
