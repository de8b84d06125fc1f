import { describe, expect, test } from 'vitest';
import { parseScriptFile } from '../../src/workflow/script-file.ts';

const read = (text: string, file = 'A.sh') => {
  const { frontmatter, findings, body } = parseScriptFile(file, text, 'unix');
  expect(body).toBe(text);
  const { timeoutMs, maxVisits, repeatable, policy } = frontmatter;
  const messages = findings.map(({ level, line, column, message }) => `${level} ${line}:${column} ${message}`);
  return { timeoutMs, maxVisits, repeatable, policy: policy.length, messages };
};
const NOTHING = { timeoutMs: null, maxVisits: null, repeatable: false, policy: 0, messages: [] };
const BLOCK = `# ---
# repeatable: true
# timeout: 10m
# max_visits: 3
# allowed_transitions:
#   - { tag: goto, target: DONE.md }
#   - { tag: goto, target: FIX.md }
# ---
`;
const ALL = { timeoutMs: 600_000, maxVisits: 3, repeatable: true, policy: 2, messages: [] };

describe('the frontmatter of a script', () => {
  test.each([
    ['below the shebang', `#!/bin/bash\n${BLOCK}echo x\n`, 'A.sh'],
    ['at the very start', `${BLOCK}echo x\n`, 'A.sh'],
    ['after blank lines', `#!/bin/bash\n\n${BLOCK}`, 'A.sh'],
    ['after a byte order mark', `\uFEFF#!/bin/bash\n${BLOCK}`, 'A.sh'],
    ['with CRLF line ends', `#!/bin/bash\n${BLOCK}echo x\n`.replaceAll('\n', '\r\n'), 'A.sh'],
    ['in PowerShell', `${BLOCK}Write-Output x\n`, 'A.ps1'],
    ['in a batch file with REM', `@echo off\n${BLOCK.replaceAll('#', 'REM')}`, 'A.bat'],
    ['in a batch file with ::', BLOCK.replaceAll('#', '::'), 'A.bat'],
  ])('is read %s', (_, text, file) => {
    expect(read(text, file)).toStrictEqual(ALL);
  });

  test.each([
    ['a script without any', '#!/bin/bash\necho x\n'],
    ['a heading between dashes', '#!/bin/bash\n# ---\n# Deploys the app\n# ---\n'],
    ['usage between dashes', '#!/bin/bash\n# ---\n# Usage: deploy.sh\n# ---\n'],
    ['an empty block', '# ---\n# ---\n'],
    ['a block below a command', 'set -e\n# ---\n# repeatable: true\n# ---\n'],
    ['an empty file', ''],
  ])('is not %s', (_, text) => {
    expect(read(text)).toStrictEqual(NOTHING);
  });

  test('is reported with its position in the file if it is wrong', () => {
    const text = '#!/bin/bash\n# ---\n# timeout: soon\n# modle: x\n# model: opus\n# ---\n';
    expect(read(text).messages).toStrictEqual([
      'error 3:12 `timeout` must be a number of seconds, or a duration such as 90s, 10m or 24h (0 for no limit), not the text `soon`',
      'warning 4:3 the key `modle` is unknown and has no effect (did you mean model?)',
      'warning 5:3 `model` has no effect in a script',
    ]);
  });

  test.each(['# ---\n# repeatable: true\necho x\n', '# ---\n# repeatable: true'])(
    'is an error if it is not closed: %j',
    (text) => {
      expect(read(text).messages).toStrictEqual([
        'error 1:1 the frontmatter that this line opens is never closed: repeat the line after its last key',
      ]);
    },
  );
});
