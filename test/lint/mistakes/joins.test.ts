import { describe } from 'vitest';
import { bash, check, END } from './check.ts';

const FORK = 'echo "<fork group=\\"docs\\">END.md</fork>"';

describe('joins:', () =>
  check([
    [
      'without any fork',
      { 'START.sh': bash('echo "<join>END.md</join>"'), 'END.md': END },
      ['nothing-to-join START.sh:2:7'],
    ],
    ['beside a fork', { 'START.sh': bash(FORK, 'echo "<join>END.md</join>"'), 'END.md': END }, []],
    [
      'of a group that nobody sets',
      { 'START.sh': bash(FORK, 'echo "<join group=\\"dosc\\">END.md</join>"'), 'END.md': END },
      ['nothing-to-join START.sh:3:7'],
    ],
    [
      'of a group that a fork sets, or may set',
      {
        'START.sh': bash(FORK, 'echo "<join group=\\"docs\\">NEXT.sh</join>"'),
        'NEXT.sh': bash('echo "<fork group=\\"$kind\\">END.md</fork>"', 'echo "<join group=\\"any\\">END.md</join>"'),
        'END.md': END,
      },
      [],
    ],
    [
      'with values that they cannot have',
      {
        'START.sh': bash(FORK, 'echo "<join wait=\\"some\\" cancel=\\"yes\\" timeout=\\"1m\\">END.md</join>"'),
        'END.md': END,
      },
      ['bad-attribute START.sh:3:7'],
    ],
    [
      'with a `timeout_next` that does not exist',
      { 'START.sh': bash(FORK, 'echo "<join timeout=1m timeout_next=LATE>END.md</join>"'), 'END.md': END },
      ['missing-state START.sh:3:7'],
    ],
    [
      'with a `timeout_next` that is reached only so',
      {
        'START.sh': bash(FORK, 'echo "<join timeout=1m timeout_next=LATE>END.md</join>"'),
        'LATE.md': END,
        'END.md': END,
      },
      [],
    ],
    [
      'beside another transition',
      { 'START.sh': bash('echo "<goto>END.md</goto>"', 'echo "<join>END.md</join>"'), 'END.md': END },
      ['nothing-to-join START.sh:3:7', 'several-tags START.sh:3:7'],
    ],
  ]));

describe('forks for each item:', () =>
  check([
    [
      'without a file',
      { 'START.sh': bash('echo "<fork-each>END.md</fork-each><join>END.md</join>"'), 'END.md': END },
      ['missing-attribute START.sh:2:7'],
    ],
    [
      'of text, whose only variables are `item` and `index`',
      {
        'START.sh': bash('echo "<fork-each in=items.txt next=END.md>W.md</fork-each>"'),
        'W.md': `{{item}} {{index}} {{size}} ${END}`,
        'END.md': END,
      },
      ['undefined-variable W.md:1:20'],
    ],
    [
      'of objects, which may have any fields',
      {
        'START.sh': bash('echo "<fork-each in=items.jsonl next=END.md>W.md</fork-each>"'),
        'W.md': `{{name}} {{size}} ${END}`,
        'END.md': END,
      },
      [],
    ],
  ]));
