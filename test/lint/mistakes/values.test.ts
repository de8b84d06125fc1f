import { describe } from 'vitest';
import { bash, check, END } from './check.ts';

/** A START.sh of these lines, which leads to A.md and B.md if one looks away from its mistakes. */
const start = (...lines: string[]) => ({
  'START.sh': bash(
    'if [ -f a ]; then echo "<goto>A</goto>"; exit; fi',
    'if [ -f b ]; then echo "<goto>B</goto>"; exit; fi',
    ...lines,
  ),
  'A.md': END,
  'B.md': END,
});

describe('a mistake in the value of a variable that is a target:', () =>
  check([
    ['by itself', start('NEXT=AA.md', 'echo "<goto>$NEXT</goto>"'), ['missing-state START.sh:4:6']],
    [
      'one of two',
      start('if [ -f x ]; then n=A.md', 'else n=BB.md; fi', 'echo "<goto>$n</goto>"'),
      ['missing-state START.sh:5:8'],
    ],
    [
      'in a case',
      start('case "$x" in', 'a) T=A.md ;;', 'b) T=BB.md ;;', '*) T=B ;;', 'esac', 'printf "<goto>%s</goto>" "$T"'),
      ['missing-state START.sh:6:6'],
    ],
    ['declared', start('declare NEXT="BB.md"', 'echo "<goto>${NEXT}</goto>"'), ['missing-state START.sh:4:15']],
    [
      'given to a function',
      start('go() { echo "<goto>$1</goto>"; exit; }', '[ -f x ] && go BB.md', 'go A.md'),
      ['missing-state START.sh:5:16'],
    ],
    [
      'given to a function that has a name for it',
      start('go() {', '  local target="$1"', '  echo "<goto>$target</goto>"', '}', 'go BB.md'),
      ['missing-state START.sh:8:4'],
    ],
    ['given to printf', start("printf '<goto>%s</goto>\\n' BB.md"), ['missing-state START.sh:4:28']],
    ['in a here document', start('n=BB.md', 'cat <<E', '<goto>$n</goto>', 'E'), ['missing-state START.sh:4:3']],
    ['for want of another', start('echo "<goto>${NEXT:-BB.md}</goto>"'), ['missing-state START.sh:4:21']],
    [
      'an item of a loop',
      start('for w in A BB.md; do echo "<fork next=\\"B\\">$w</fork>"; done'),
      ['missing-state START.sh:4:12'],
    ],
    [
      'where the parent continues',
      start('j=BB.md', 'echo "<fork next=\\"$j\\">A</fork>"'),
      ['missing-state START.sh:4:3'],
    ],
    [
      'where the parent continues, while its worker comes from another variable',
      start('w=A.md; j=BB.md', 'echo "<fork next=\\"$j\\">$w</fork>"'),
      ['missing-state START.sh:4:11'],
    ],
    [
      'written in the tag, while only the other state comes from a variable',
      start('j=B.md', 'echo "<fork next=\\"$j\\">AA.md</fork>"'),
      ['missing-state START.sh:5:7'],
    ],
    [
      'one of two given to printf',
      start(`printf '<fork next="%s">%s</fork>' B.md AA.md`),
      ['missing-state START.sh:4:41'],
    ],
    ['half a name', start('stage=two', 'echo "<goto>A-$stage.md</goto>"'), ['missing-state START.sh:5:7']],
    [
      'an item of a list',
      start('all=(A.md BB.md)', 'for n in "${all[@]}"; do echo "<fork next="A">$n</fork>"; done'),
      ['missing-state START.sh:4:11'],
    ],
    [
      'an item that is chosen by its number',
      start(
        'all=(A.md BB.md)',
        'i=$(cat n)',
        'if (( i > ${#all[@]} )); then i=0; fi',
        'echo "<goto>${all[$i]}</goto>"',
      ),
      ['missing-state START.sh:4:11'],
    ],
    [
      'an item that is chosen by its key',
      start('declare -A all=([a]=A.md [b]=BB.md)', 'echo "<goto>${all[$kind]:-A.md}</goto>"'),
      ['missing-state START.sh:4:30'],
    ],
    [
      'one of two arguments',
      start('say() { printf \'<%s>%s</%s>\\n\' "$1" "$2" "$1"; }', 'say goto BB.md'),
      ['missing-state START.sh:5:10'],
    ],
    [
      'in a whole tag',
      start('tag="<goto>BB.md</goto>"', '[ -f x ] && tag="<goto>B.md</goto>"', 'echo "$tag"'),
      ['missing-state START.sh:4:6'],
    ],
    [
      'set before, and then again in a loop',
      start(
        'n=A',
        'for i in 1 2; do',
        '  if [ -f "$i" ]; then echo "<goto>$n</goto>"; exit; fi',
        '  n=BB.md',
        'done',
        'echo "<goto>B</goto>"',
      ),
      ['missing-state START.sh:7:5'],
    ],
  ]));

describe('no mistake:', () =>
  check([
    [
      'a value that says that there is none',
      start(
        'n=none',
        '[ -f x ] && n=A',
        'if [ "$n" = none ]; then echo "<result>x</result>"; else echo "<goto>$n</goto>"; fi',
      ),
      [],
    ],
    [
      'a value that is sorted out before',
      start(
        'n=STOP.md',
        '[ -f x ] && n=A.md',
        'case $n in',
        'STOP.md) echo "<result>x</result>" ;;',
        '*) echo "<goto>$n</goto>" ;;',
        'esac',
      ),
      [],
    ],
    [
      'an argument that is sorted out before',
      start(
        'say() { case $1 in stop.md) echo "<result>x</result>" ;; *) echo "<goto>$1</goto>" ;; esac; }',
        'if [ -f x ]; then say stop.md; else say A; fi',
      ),
      [],
    ],
    [
      'arguments that belong together',
      start(
        'say() { printf \'<%s>%s</%s>\\n\' "$1" "$2" "$1"; }',
        'if [ -f x ]; then say goto A.md; else say result no.md; fi',
      ),
      [],
    ],
    ['a file that is handed over', start('n=A.md', 'echo "<goto input-file=\'$x\'>$n</goto>"'), []],
    ['items of a list', start('all=(A.md B.md)', 'for n in "${all[@]}"; do echo "<fork next="A">$n</fork>"; done'), []],
    ['a value that is set anew', start('n=AA', 'n=A', 'echo "<goto>$n</goto>"'), []],
    ['another use of the name before', start('for f in x y; do touch "$f"; done', 'f=A', 'echo "<goto>$f</goto>"'), []],
    [
      'another use of the name in a function',
      start('log() { local n=x; echo "$n" >&2; }', 'n=A', 'log', 'echo "<goto>$n</goto>"'),
      [],
    ],
    ['a value that is read', start('n=none', 'read -r n < next.txt', 'echo "<goto>$n</goto>"'), []],
    ['a value that is asked for', start('n=none', 'n=$(cat next.txt)', 'echo "<goto>$n</goto>"'), []],
    ['a value that may be asked for', start('n=none', '[ -f x ] && n=$(cat x)', 'echo "<goto>$n</goto>"'), []],
    [
      'counting',
      {
        'START.sh': bash('n=0', 'while [ -f "$n" ]; do n=$((n + 1)); done', 'echo "<goto>STEP$n</goto>"'),
        'STEP1.md': END,
      },
      [],
    ],
    ['counting in brackets', { 'START.sh': bash('n=0', '((n++))', 'echo "<goto>STEP$n</goto>"'), 'STEP1.md': END }, []],
    ['a name that grows', start('n=A', 'n+=.md', 'echo "<goto>$n</goto>"'), []],
    ['a value from elsewhere', start('n=none', 'source ./settings', 'echo "<goto>$n</goto>"'), []],
    ['a function that sets what it is told', start('n=none', 'pick n', 'echo "<goto>$n</goto>"'), []],
    ['arguments that move', start('go() { shift; echo "<goto>$1</goto>"; }', 'go none A'), []],
    ['a pattern', start('for f in *.md; do n=$f; done', 'echo "<goto>$n</goto>"'), []],
    ['nothing at first', start('n=""', 'if [ -f x ]; then n=A; else n=B; fi', 'echo "<goto>$n</goto>"'), []],
    ['a result', start('sum=none', 'echo "<result>$sum</result>"'), []],
    ['a name put together', start('n=A', 'e=md', 'echo "<goto>$n.$e</goto>"'), []],
  ]));
