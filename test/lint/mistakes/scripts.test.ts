import { describe, expect, test } from 'vitest';
import { lintSource } from '../../../src/lint/lint.ts';
import { sourceOf } from '../source-of.ts';
import { bash, check, END } from './check.ts';

describe('scripts:', () =>
  check([
    [
      'an if without else',
      { 'START.sh': bash('if [ -f a ]; then', '  echo "<result>a</result>"', 'fi') },
      ['silent-path START.sh:2:1'],
    ],
    [
      'a case that does not cover everything',
      {
        'START.sh': bash(
          'case "$1" in',
          '  a) echo "<result>a</result>" ;;',
          '  b) echo "<result>b</result>" ;;',
          'esac',
        ),
      },
      ['silent-path START.sh:2:1'],
    ],
    [
      'an exit before the tag',
      { 'START.sh': bash('if [ ! -f a ]; then', '  exit 0', 'fi', 'echo "<result>a</result>"') },
      ['silent-path START.sh:3:3'],
    ],
    [
      'a branch that only talks',
      { 'START.sh': bash('if [ -f a ]; then', '  echo "<result>a</result>"', 'else', '  echo "no a" >&2', 'fi') },
      ['silent-path START.sh:5:3'],
    ],
    [
      'a tag behind a condition',
      { 'START.sh': bash('[ -f a ] && echo "<result>a</result>"') },
      ['silent-path START.sh:2:1'],
    ],
    ['an exit that fails on purpose', { 'START.sh': bash('[ -f a ] || exit 1', 'echo "<result>a</result>"') }, []],
    [
      'two tags on one way',
      { 'START.sh': bash('if [ -f a ]; then', '  echo "<result>a</result>"', 'fi', 'echo "<result>b</result>"') },
      ['several-tags START.sh:5:7'],
    ],
    [
      'conditions that may exclude each other',
      {
        'START.sh': bash(
          'if [ -f a ]; then echo "<result>a</result>"; fi',
          'if [ ! -f a ]; then echo "<result>b</result>"; fi',
        ),
      },
      [],
    ],
    [
      'conditions that may exclude each other, in short',
      { 'START.sh': bash('[ "$x" = 1 ] && echo "<result>a</result>"', '[ "$x" = 1 ] || echo "<result>b</result>"') },
      [],
    ],
    [
      'conditions about different things',
      {
        'START.sh': bash(
          'if [ -f a ]; then echo "<result>a</result>"; exit; fi',
          'if [ -f b ]; then echo "<result>b</result>"; fi',
        ),
      },
      ['silent-path START.sh:3:1'],
    ],
    [
      'forks in a loop, and a result if there were none',
      {
        'START.sh': bash(
          'count=0',
          'while read -r item; do',
          '  echo "<fork item=\'$item\'>END</fork>"',
          '  count=$((count + 1))',
          'done < items.txt',
          'if [ "$count" -eq 0 ]; then echo "<result>nothing to do</result>"; else echo "<goto>END</goto>"; fi',
        ),
        'END.md': END,
      },
      [],
    ],
    ['the same tag twice', { 'START.sh': bash('echo "<result>a</result>"', 'echo "<result>a</result>"') }, []],
    ['a tag without quotes', { 'START.sh': bash('echo <result>a</result>') }, ['unquoted-tag START.sh:2:6']],
    ['no shebang', { 'START.sh': 'echo "<result>a</result>"\n' }, ['no-shebang START.sh:1:1']],
    ['the shebang of zsh', { 'START.sh': '#!/bin/zsh\necho "<result>a</result>"\n' }, ['other-shell START.sh:1:1']],
    ['the shebang of sh', { 'START.sh': '#!/bin/sh\necho "<result>a</result>"\n' }, ['other-shell START.sh:1:1']],
    [
      'the shebang of bash with options',
      { 'START.sh': '#!/bin/bash -e\necho "<result>a</result>"\n' },
      ['other-shell START.sh:1:1'],
    ],
    [
      'the shebang of bash with options, through env',
      { 'START.sh': '#!/bin/env -S bash -eu\necho "<result>a</result>"\n' },
      ['other-shell START.sh:1:1'],
    ],
    ['a shebang of bash through env', { 'START.sh': '#!/usr/bin/env bash\necho "<result>a</result>"\n' }, []],
    [
      'a shebang of another language',
      { 'START.sh': '#!/usr/bin/env python3\nprint("<result>a</result>")\n' },
      ['other-shebang START.sh:1:1'],
    ],
    ['CR LF', { 'START.sh': '#!/bin/bash\r\necho "<result>a</result>"\r\n' }, ['crlf-script START.sh:1:12']],
    [
      'bytes that are no text',
      { 'START.md': END, 'A.sh': new Uint8Array([0x23, 0x21, 0x0a, 0xff]) },
      ['unreachable-state A.sh:0:0', 'not-text A.sh:2:1'],
    ],
  ]));

describe('loops that print:', () => {
  const FILES = { 'W.md': END, 'E.md': END, 'F.md': END };
  const start = (...lines: string[]) => ({ 'START.sh': bash(...lines), ...FILES });
  const other = '[ -f a ] && { echo "<goto>F</goto>"; exit; }';
  const fork = (next: string): string => `echo "<fork next='${next}'>W</fork>"`;
  check([
    [
      'nothing to go through',
      start(`while read -r x; do ${fork('E')}; done < list`, `# or F.md`),
      ['unreachable-state F.md:0:0', 'empty-loop START.sh:2:1'],
    ],
    ['nothing to go through, but that is seen to', start(other, `while read -r x; do ${fork('E')}; done < list`), []],
    [
      'a result beside forks',
      start(other, `for x in 1 2; do ${fork('E')}; done`, 'echo "<result>forked</result>"'),
      ['several-tags START.sh:4:7'],
    ],
    [
      'a result if there was nothing to fork',
      start(
        other,
        'n=0',
        `for x in $(ls); do ${fork('E')}; n=$((n + 1)); done`,
        'if [ "$n" -eq 0 ]; then echo "<result>nothing</result>"; fi',
      ),
      [],
    ],
    [
      'a name between single quotes',
      start(other, 'for x in 1 2; do echo \'<fork next="E" n="$x">W</fork>\'; done'),
      ['literal-variable START.sh:3:24'],
    ],
    [
      'an amount between single quotes',
      start(other, 'for x in 1 2; do echo \'<fork next="E" n="$5">W</fork>\'; done'),
      [],
    ],
    ['a name that is none of the script', start(other, 'echo \'<fork next="E" n="set $PATH">W</fork>\''), []],
    ['forks that do not agree', start(fork('E'), fork('F')), ['several-tags START.sh:3:7']],
    [
      'a fork without its next on one of several ways',
      start(other, 'if [ -f b ]; then echo "<fork>W</fork>"', `else ${fork('E')}; fi`),
      ['missing-attribute START.sh:3:25'],
    ],
    [
      'a goto if there were forks',
      start(
        other,
        'n=0',
        'for x in *; do [ -f "$x" ] && echo "<fork>W</fork>" && n=1; done',
        'if [ $n = 1 ]; then echo "<goto>E</goto>"; else echo "<goto>F</goto>"; fi',
      ),
      [],
    ],
    ['forks and a goto that agree', start(other, fork('E'), 'echo "<goto>E.md</goto>"'), []],
    ['forks and a goto that do not', start(fork('E'), 'echo "<goto>F</goto>"'), ['several-tags START.sh:3:7']],
    [
      'another goto in each round',
      start('for x in W E F; do echo "<goto>$x</goto>"; done'),
      ['several-tags START.sh:2:26'],
    ],
    [
      'a goto by what the only round is about',
      start(other, 'for x in a; do case $x in a) echo "<goto>W</goto>" ;; *) echo "<goto>E</goto>" ;; esac; done'),
      [],
    ],
    [
      'a result if nothing was counted',
      start(
        other,
        'n=0',
        `for d in */; do if [ -f "$d/x" ]; then ${fork('E')}; ((n++)); fi; done`,
        'if ((n == 0)); then echo "<result>none</result>"; fi',
      ),
      [],
    ],
    [
      'a script that ends itself',
      start('die() { echo "<goto>W</goto>"; kill $$; }', 'die', 'echo "<goto>E</goto>"', '# F'),
      [],
    ],
    [
      'a goto that is the same in each round',
      start(other, 'for x in 1 2; do if [ -f b ]; then echo "<goto>W</goto>"; else echo "<goto>E</goto>"; fi; done'),
      [],
    ],
    [
      'a goto of the last round, in words that do not stop',
      start(
        other,
        'for x in *; do case $x in a*) echo "<goto>W</goto>"; break ;; *) echo "<goto>E</goto>" ;; esac; done',
      ),
      [],
    ],
    [
      'the first goto that fits',
      start('for x in W E F; do if [ -f "$x" ]; then echo "<goto>$x</goto>"; exit; fi; done', 'echo "<goto>W</goto>"'),
      [],
    ],
    [
      'an exit that only leaves the pipe',
      start(
        other,
        'ls | while read -r x; do',
        '  if [ -f "$x" ]; then echo "<goto>W</goto>"; exit; fi',
        'done',
        'echo "<goto>E</goto>"',
      ),
      ['several-tags START.sh:6:7'],
    ],
    [
      'a flag that says whether a tag was printed',
      start(
        'for x in *; do if [ -f "$x" ]; then echo "<goto>W</goto>"; found=1; break; fi; done',
        'if [ -z "$found" ]; then echo "<goto>E</goto>"; fi',
        ': F.md',
      ),
      ['unreachable-state F.md:0:0'],
    ],
  ]);
});

describe('scripts that fail:', () =>
  check([
    [
      'after a tag',
      {
        'START.sh': bash(
          'if [ -f a ]; then',
          '  echo "<result>a</result>"',
          '  exit 1',
          'fi',
          'echo "<result>b</result>"',
        ),
      },
      ['wasted-tag START.sh:4:3'],
    ],
    [
      'after a tag, if something else fails',
      { 'START.sh': bash('echo "<result>a</result>"', 'git push || exit 1') },
      [],
    ],
    ['instead of a tag', { 'START.sh': bash('[ -f a ] || exit 1', 'echo "<result>b</result>"') }, []],
    [
      'because of a last test',
      { 'START.sh': bash('echo "<result>a</result>"', '[ -f tmp ] && rm tmp') },
      ['wasted-tag START.sh:3:1'],
    ],
    ['never', { 'START.sh': bash('echo "<result>a</result>"', '[ -f tmp ] && rm tmp', 'exit 0') }, []],
    [
      'never, because of the other way',
      { 'START.sh': bash('echo "<result>a</result>"', '[ -f tmp ] && rm tmp || true') },
      [],
    ],
    ['in a subshell', { 'START.sh': bash('( echo "<result>a</result>"; exit 1 )', 'exit 0') }, []],
  ]));

describe('tags of functions:', () => {
  const SAY = 'say() { echo "<result>$1</result>"; }';
  check([
    ['two of them', { 'START.sh': bash(SAY, 'say a', 'say b') }, ['several-tags START.sh:4:1']],
    [
      'the second on a condition',
      { 'START.sh': bash(SAY, '[ -e x ] || say a', 'say b') },
      ['several-tags START.sh:4:1'],
    ],
    ['one or the other', { 'START.sh': bash(SAY, 'if [ -e x ]; then say a; else say b; fi') }, []],
    ['the same twice', { 'START.sh': bash(SAY, 'say a', 'say a') }, []],
    [
      'a function that ends the script',
      { 'START.sh': bash(SAY.replace('; }', '; exit; }'), '[ -e x ] && say a', 'say b') },
      [],
    ],
    [
      'another value in each round',
      { 'START.sh': bash('for i in 1 2; do echo "<goto input=\'$i\'>E.md</goto>"; done'), 'E.md': END },
      ['several-tags START.sh:2:24'],
    ],
  ]);
});

test.each([
  ['what a program says', 'out=$(npm test 2>&1)', '$out', ['warning']],
  ['the content of a file', '', '$(cat plan.md)', ['warning']],
  ['what the state was given', '', '$RAYMOND_INPUT', ['info']],
  ['a variable that is not set here', '', '$issue', ['info']],
  ['an id of another program', 'id=$(bd ready | head -1)', 'work on $id', ['info']],
  ['ids that Raymond sets', '', '$RAYMOND_WORKFLOW_ID/${RAYMOND_AGENT_ID}: $RAYMOND_TASK_FOLDER/a.md', []],
  ['numbers', 'n=$((n + 1)); lines=$(wc -l < a)', '$n of $lines, $((n * 2)), ${#n}', []],
  ['words of the script', 'kind=fast; [ -e a ] && kind="slow"', '$kind', []],
])('a quote in an input is a warning only where it is likely: %s', (_, before, value, levels) => {
  const files = { 'START.sh': bash(before, `echo "<goto input=\\"${value}\\">E.md</goto>"`), 'E.md': END };
  const found = lintSource(sourceOf(files)).filter(({ rule }) => rule === 'quote-in-input');
  expect(found.map(({ level }) => level)).toStrictEqual(levels);
});

describe('paths without output:', () => {
  const A = 'echo "<result>a</result>"';
  const B = 'echo "<result>b</result>"';
  check([
    [
      'a variable has neither of two values',
      { 'START.sh': bash(`if [ "$x" = 1 ]; then ${A}; exit; fi`, `if [ "$x" = 2 ]; then ${B}; fi`) },
      ['silent-path START.sh:3:1'],
    ],
    [
      'a folder has neither of two files',
      { 'START.sh': bash(`if [ -e "$d/a" ]; then ${A}; exit; fi`, `if [ -e "$d/b" ]; then ${B}; fi`) },
      ['silent-path START.sh:3:1'],
    ],
    [
      'what was looked for is not found',
      { 'START.sh': bash('for i in $(seq 60); do', `  if [ -s a ]; then ${A}; exit; fi`, '  sleep 1', 'done') },
      ['silent-path START.sh:2:1'],
    ],
    [
      'a function goes back before it prints',
      { 'START.sh': bash('main() {', '  if [ -e a ]; then return 0; fi', `  ${A}`, '}', 'main') },
      ['silent-path START.sh:3:21'],
    ],
  ]);
});

describe('paths that always have output:', () => {
  const A = 'echo "<result>a</result>"';
  const B = 'echo "<result>b</result>"';
  check([
    [
      'for the argument that is given',
      { 'START.sh': bash(`say() { case $1 in a) ${A} ;; b) ${B} ;; esac; }`, 'say a') },
      [],
    ],
    ['or the script fails', { 'START.sh': bash('cd "$dir" || exit', A) }, []],
    ['or the last command fails', { 'START.sh': bash(`mkdir -p out && cp x out && ${A}`) }, []],
    ['or the function fails', { 'START.sh': bash('main() { cd x || return 1', A, '}', 'main') }, []],
    ['or the subshell fails', { 'START.sh': bash(`( cd project && ${A} )`) }, []],
    [
      'a case for all values that a variable gets',
      { 'START.sh': bash('if [ -e a ]; then s=x; else s=y; fi', 'case $s in', `x) ${A} ;;`, `y) ${B} ;;`, 'esac') },
      [],
    ],
    [
      'an elif for all values that a variable gets',
      {
        'START.sh': bash(
          'if [ -e a ]; then s=x; else s=y; fi',
          `if [[ $s == x ]]; then ${A}`,
          `elif [[ $s == y ]]; then ${B}; fi`,
        ),
      },
      [],
    ],
    [
      'a case for all values that are let through',
      { 'START.sh': bash('[[ $s =~ ^(x|y)$ ]] || exit 1', 'case $s in', `x) ${A} ;;`, `y) ${B} ;;`, 'esac') },
      [],
    ],
    [
      'a function that prints only once',
      {
        'START.sh': bash(
          'say() { [ -n "$done" ] && return; done=1; echo "<result>$1</result>"; }',
          '[ -e a ] && say a',
          'say b',
        ),
      },
      [],
    ],
    [
      'a file says whether the loop has printed',
      {
        'START.sh': bash(
          'git ls-files | while read -r f; do',
          '  touch any',
          `  ${A}`,
          'done',
          `if [ ! -e any ]; then ${B}; fi`,
        ),
      },
      [],
    ],
    ['a tag that a program prints', { 'START.sh': bash(`git log --format='<result>%h</result>'`) }, []],
    ['a tag that a function from elsewhere prints', { 'START.sh': bash('. ./lib.sh', `say '<result>a</result>'`) }, []],
    ['a tag that the command itself prints', { 'START.sh': bash(`command ${A}`) }, []],
  ]);
});
