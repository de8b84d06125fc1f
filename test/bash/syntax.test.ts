import { describe, expect, test } from 'vitest';
import { parseScript } from '../../src/bash/parse.ts';
import { readScriptTags } from '../../src/bash/script-tags.ts';
import { inBash } from './bash.ts';

const WINDOWS = process.platform === 'win32';

/** Scripts that bash understands, with the states to which their tags certainly lead. */
const TRICKY: readonly (readonly [name: string, script: string, targets: readonly string[]])[] = [
  ['a here document in a subshell', '(cat <<E\n<goto>A</goto>\nE\n)', ['A']],
  ['a here document in a substitution', 'x=$(cat <<E\n)\nE\n)\necho "<goto>A</goto>"', ['A']],
  ['two here documents on one line', 'cat <<A - <<-"B"\n1\nA\n\t<goto>A</goto>\n\tB', ['A']],
  ['a here document before a pipe', 'cat <<E | sort > /dev/null\nb\nE\necho "<goto>A</goto>"', ['A']],
  ['a `case` in a substitution', 'x=$(case a in a) echo 1;; esac); echo "<goto>A</goto>"', ['A']],
  ['a `case` that proceeds to other arms', 'case $1 in a) ;;& *) echo "<goto>A</goto>" ;& b) : ; esac', ['A']],
  ['a `case` with patterns of its own', 'case $1 in @(a|b)) ;; [!x]*) ;; esac; echo "<goto>A</goto>"', ['A']],
  ['a regular expression', '[[ $1 =~ ^(a|b)[[:space:]]*$ ]] || echo "<goto>A</goto>"', ['A']],
  ['a regular expression with a quote', '[[ $1 =~ \'(\'.* ]]; echo "<goto>A</goto>"', ['A']],
  ['tests in brackets', '[[ ( -f a || $1 < b ) && ! -d c ]]; echo "<goto>A</goto>"', ['A']],
  ['arithmetic with shifts and comments', '(( x = 1 << 2, y = 16#ff )); echo "<goto>A</goto>"', ['A']],
  ['arithmetic in an array index', 'a[$((1 + 2)) ]=x; echo "${a[1 + 2]} <goto>A</goto>"', ['A']],
  ['a loop that counts', 'for ((i = 0; i < 3; i++)) { :; }; echo "<goto>A</goto>"', ['A']],
  ['a process substitution', 'while read -r x; do :; done < <(ls | grep ")"); echo "<goto>A</goto>"', ['A']],
  ['an output to a process', 'ls > >(cat >&2); echo "<goto>A</goto>"', ['A']],
  ['a coprocess', 'coproc CAT { cat; }; echo "<goto>A</goto>"', ['A']],
  ['a menu', 'select x in a b; do break; done < /dev/null; echo "<goto>A</goto>"', ['A']],
  ['quotes within quotes', 'echo "$(echo "${1:-"a b"}" \'"\')" > /dev/null; echo "<goto>A</goto>"', ['A']],
  ['a quote in a comment of a substitution', 'x=$(\n# it\'s\necho 1\n); echo "<goto>A</goto>"', ['A']],
  ['a hash that is no comment', 'echo a#b "${#x}" $# > /dev/null; echo "<goto>A</goto>"', ['A']],
  ['characters by their numbers', "echo $'it\\'s \\x3cgoto\\x3eA</goto>'", ['A']],
  ['redirections before a command', '2>/dev/null > /dev/null ls; >&1 echo "<goto>A</goto>"', ['A']],
  ['a function without braces', 'f() if true; then echo "<goto>A</goto>"; fi\nf', ['A']],
  ['a function in a subshell', 'f() ( echo "<goto>A</goto>" )\nf', ['A']],
];

describe.each(TRICKY)('%s', (_, script, targets) => {
  test('is understood', () => {
    const { tags } = readScriptTags('START.sh', script);
    expect(tags.flatMap(({ sure, tag }) => (sure ? tag.body : []))).toStrictEqual(targets);
  });
});

test.skipIf(WINDOWS)('all of these are bash (not on Windows)', () => {
  const answers = inBash(
    '/bin/bash -O extglob -n -c "$case" 2>&1',
    TRICKY.map(([, script]) => script),
  );
  expect(answers.filter((answer) => answer !== '')).toStrictEqual([]);
});

describe('the offset of a tag is right', () => {
  test.each([
    ['behind a byte order mark', '\uFEFF#!/bin/bash\necho "<goto>A</goto>"'],
    ['behind emoji', 'echo "😀 ü" > log\necho "😀<goto>A</goto>"'],
    [
      'in a script with carriage returns',
      '#!/bin/bash\r\nif true\r\nthen\r\n  echo \\\r\n  "<goto>A</goto>"\r\nfi\r\n',
    ],
    ['in a here document with carriage returns', 'cat <<E\r\n😀\r\n<goto>A</goto>\r\nE\r\n'],
    ['in a here document with tabs', 'if true; then\n\tcat <<-E\n\t\t$x \\$y <goto>A</goto>\n\tE\nfi'],
    ['in a here document between quotes', "cat <<'E'\n\\$x\n<goto>A</goto>\nE"],
    ['behind escapes', 'echo "\\"\\\\\\$x" a\\ b\\"\'\\\'"$1<goto>A</goto>"'],
    ['behind characters by their numbers', "echo $'\\t\\u20ac\\n<goto>A</goto>'"],
    ['in a substitution', 'x="$(echo "${y:-z}" "<goto>A</goto>")"'],
    ['in a substitution between backticks with escapes', 'x=`echo \\`ls\\` "<goto>A</goto>"`'],
    ['in a function', 'f() {\n  printf \'%s\\n\' "<goto>A</goto>"\n}\nf'],
  ])('%s', (_, script) => {
    expect(readScriptTags('START.sh', script).tags.map(({ offset }) => offset)).toStrictEqual([
      script.indexOf('<goto>'),
    ]);
  });
});

test.each(['echo $(if)', 'x="$(for)"', 'echo `(`', 'cat <(then)', 'a=($(fi))'])(
  'a syntax error in a substitution is one of the script: %s',
  (script) => {
    expect(parseScript(script)).toBeUndefined();
  },
);
