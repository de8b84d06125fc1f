import { expect, test } from 'vitest';
import { lintSource } from '../../src/lint/lint.ts';
import { sourceOf } from './source-of.ts';

const POLL = `#!/bin/bash
response=$(curl -s "$API_URL/tasks?status=pending")
count=$(echo "$response" | jq 'length')
if [ "$count" -gt 0 ]; then
    echo "$response" > /tmp/pending_tasks.json
    echo "<goto>PROCESS.md</goto>"
else
    sleep 60
    echo "<reset>START.sh</reset>"
fi
`;

test.each([
  [
    'polling',
    {
      'START.sh': POLL,
      'PROCESS.md':
        '---\nallowed_transitions:\n  - { tag: reset, target: START.sh }\n  - { tag: result }\n---\nProcess the tasks.\nWhen done, go back to polling: <reset>START.sh</reset>\nIf nothing is left: <result>All tasks processed</result>\n',
    },
  ],
  [
    'research in a branch',
    {
      'START.md': 'Delegate research:\n<call return="SUMMARIZE.md">RESEARCH.md</call>\n',
      'RESEARCH.md': 'Research it. When done: <result>what you found</result>\n',
      'SUMMARIZE.md': 'The findings:\n\n{{result}}\n\nSum them up. <result>the summary</result>\n',
    },
  ],
  [
    'a plan, then a fresh start',
    {
      'START.md':
        '---\nallowed_transitions:\n  - { tag: reset, target: IMPLEMENT.md }\n---\nWrite plan.md. STOP after that.\n',
      'IMPLEMENT.md': 'Implement plan.md. When done, emit <goto>COMMIT.md</goto>\n',
      'COMMIT.md': 'Commit. When done: <result>committed</result>\n',
    },
  ],
])('the patterns of the protocol have no finding above info: %s', (_, files) => {
  const found = lintSource(sourceOf(files)).filter(({ level }) => level !== 'info');
  expect(found.map(({ rule, file, message }) => `${rule} ${file}: ${message}`)).toStrictEqual([]);
});
