import { describe } from 'vitest';
import { bash, check, END } from './check.ts';

const GHOST = 'echo "would say <goto>GHOST.md</goto>"';
const DONE = 'echo "<goto>END.md</goto>"';

describe('redirected output of a script:', () =>
  check([
    [
      'an exec sends it elsewhere and back',
      { 'START.sh': bash('exec 3>&1 1>&2', GHOST, 'exec 1>&3', 'echo "<result>ok</result>"') },
      [],
    ],
    [
      'an exec keeps a way to it',
      { 'START.sh': bash('exec 3>&1 >log', GHOST, 'echo "<goto>END.md</goto>" >&3'), 'END.md': END },
      [],
    ],
    [
      'a group keeps a way to it',
      { 'START.sh': bash('{', GHOST, 'echo "<result>ok</result>" >&3', '} 3>&1 >log') },
      [],
    ],
    ['an exec names a new way to it', { 'START.sh': bash('exec {out}>&1', 'echo "<result>ok</result>" >&$out') }, []],
    [
      'an exec that moves only errors changes nothing',
      { 'START.sh': bash('exec 2>>errors.log', GHOST) },
      ['missing-state START.sh:3:17'],
    ],
    [
      'every call of a function is sent away or captured',
      { 'START.sh': bash(`work() { ${GHOST}; }`, 'work >/dev/null', 'v=$(work)', DONE), 'END.md': END },
      [],
    ],
    [
      'a function is called only by one that is sent away',
      { 'START.sh': bash(`a() { ${GHOST}; }`, 'b() { a; }', 'b >&2', DONE), 'END.md': END },
      [],
    ],
    ['a function is never called', { 'START.sh': bash(`work() { ${GHOST}; }`, DONE), 'END.md': END }, []],
    [
      'a function is called by one that is heard',
      { 'START.sh': bash(`a() { ${GHOST}; }`, 'b() { a; }', 'b >&2', 'b') },
      ['missing-state START.sh:2:23'],
    ],
    [
      'a function prints when the script ends',
      { 'START.sh': bash('finish() { echo "<result>ok</result>"; }', 'trap finish EXIT', 'make') },
      [],
    ],
    [
      'a function that only tidies up when the script ends',
      { 'START.sh': bash('tidy() { rm -f a; }', 'trap tidy EXIT', '[ -f b ] && echo "<result>ok</result>"') },
      ['silent-path START.sh:4:1'],
    ],
    [
      'another command changes what is printed',
      { 'START.sh': bash('echo "<goto>GHOST.md</goto>" | sed s/GHOST/END/'), 'END.md': END },
      [],
    ],
  ]));

describe('a tag in pieces:', () =>
  check([
    [
      'its name and its ends are printed one by one',
      { 'START.sh': bash('echo -n "<goto>"; printf END.md; echo "</goto>"'), 'END.md': END },
      [],
    ],
    [
      'even its brackets are',
      { 'START.sh': bash('printf "<"', 'printf "goto>END.md<"', 'printf "/goto>"'), 'END.md': END },
      [],
    ],
    [
      'a branch without any is still silent',
      { 'START.sh': bash('if [ -f a ]; then', '  echo -n "<goto>"; cat next; echo "</goto>"', 'fi'), 'END.md': END },
      ['silent-path START.sh:2:1'],
    ],
  ]));
