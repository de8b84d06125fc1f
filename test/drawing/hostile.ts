/** Names of files and texts of prompts that break a picture unless they are escaped. */
export const HOSTILE_NAMES = [
  '"><img src=x onerror=alert(1)>.md',
  "' onclick='alert(1).md",
  '<script>bad = 1<script>.md',
  '<!--.md',
  ']]>.md',
  'a\\N\\l\\"b.md',
  '&lt;b&gt; &amp;.md',
  '#quot;35;.md',
  '`${bad}`.md',
  'line\nbreak\ttab.md',
  'esc\u001b[31m\u0007.md',
  'right\u202eot-left.md',
  '状态 état 😀 \u0301.md',
  `${'long'.repeat(60)}.md`,
  'two  blanks.md',
  'end.md',
  'graph.md',
  '__proto__.md',
  'constructor.md',
];

export const HOSTILE_TEXT = [
  '</script><script>bad = 1</script>',
  '<!--<script>',
  '<img src="https://example.com/x.png" onerror="bad = 1">',
  ']]> &amp; &lt; \\u003c ${bad} `x` \u2028 \u2029 \u0007 \u202e',
  '{{result}} <goto>NOWHERE "><svg onload=bad=1>.md</goto>',
].join('\n');

/** A workflow that is made of them, each leading to the next. */
export const HOSTILE_FILES: Readonly<Record<string, string>> = {
  'START.md': `---
description: "</title><script>bad = 1</script>"
allowed_transitions:
${HOSTILE_NAMES.map((name) => `  - { tag: goto, target: ${JSON.stringify(name)} }`).join('\n')}
  - { tag: result }
---
${HOSTILE_TEXT}`,
  ...Object.fromEntries(HOSTILE_NAMES.map((name) => [name, HOSTILE_TEXT])),
};
