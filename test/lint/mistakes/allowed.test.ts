import { describe } from 'vitest';
import { bash, check, END } from './check.ts';

const ROUND = 'Stop, then answer <goto>START.md</goto>.\n';

describe('allowed findings:', () =>
  check([
    ['in the frontmatter of a prompt', { 'START.md': `---\n# lint: allow endless-loop\n---\n${ROUND}` }, []],
    ['beside keys', { 'START.md': `---\nmodel: opus\n  # lint: allow endless-loop\n---\n${ROUND}` }, []],
    ['in a script', { 'START.sh': bash('# lint: allow endless-loop', 'echo "<reset>START.sh</reset>"') }, []],
    [
      'in a batch file',
      { 'START.bat': '@echo off\r\nrem lint: allow endless-loop\r\necho ^<reset^>START^</reset^>\r\n' },
      [],
      { platform: 'windows' },
    ],
    [
      'several rules at once',
      { 'START.sh': '# lint: allow endless-loop, no-shebang\necho "<reset>START.sh</reset>"\n' },
      [],
    ],
    [
      'not in what is sent to Claude Code',
      { 'START.md': `# lint: allow endless-loop\n\n${ROUND}` },
      ['endless-loop START.md:3:19'],
    ],
    [
      'not in another file',
      { 'START.md': 'Stop, then answer <goto>A.md</goto>.', 'A.md': `---\n# lint: allow endless-loop\n---\n${ROUND}` },
      ['endless-loop START.md:1:19'],
    ],
    ['not another rule', { 'START.md': `---\n# lint: allow fork-bomb\n---\n${ROUND}` }, ['endless-loop START.md:4:19']],
    [
      'by a name that no rule has',
      { 'START.md': `---\n# lint: allow endless-loop, loop\n---\n${ROUND}` },
      ['unknown-rule START.md:2:29'],
    ],
    [
      'not what keeps a run from beginning',
      { 'START.md': `---\n# lint: allow frontmatter\nmax_visits: often\n---\n${END}` },
      ['frontmatter START.md:3:13'],
    ],
    [
      'not a state of a policy that does not exist',
      {
        'START.md': `---\n# lint: allow missing-state\nallowed_transitions: [{ tag: goto, target: A }, { tag: result }]\n---\n${END}`,
      },
      ['missing-state START.md:3:44'],
    ],
    [
      'a state of a script that does not exist',
      { 'START.sh': bash('# lint: allow missing-state', 'echo "<goto>B</goto>"') },
      [],
    ],
    ['without a name', { 'START.md': `---\n# lint: allow\n---\n${END}` }, ['unknown-rule START.md:2:1']],
    ['in words that are none of it', { 'START.sh': bash('# lint: allowed', 'echo "<result>x</result>"') }, []],
  ]));
