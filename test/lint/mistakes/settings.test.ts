import { describe, expect, test } from 'vitest';
import { lintSource } from '../../../src/lint/lint.ts';
import { sourceOf } from '../source-of.ts';
import { bash, check, END, policy, SCRIPT } from './check.ts';

const withKeys = (...keys: readonly string[]): string => `---\n${keys.join('\n')}\n---\n${END}`;

describe('keys and their values:', () =>
  check([
    [
      'frontmatter below a heading',
      { 'START.md': '# Build\n\n---\nmodel: opus\n---\nBuild it. When done, answer with <result>x</result>.' },
      ['key-without-effect START.md:3:1'],
    ],
    [
      'frontmatter without its first line',
      { 'START.md': 'model: opus\nallowed_transitions:\n  - { tag: result }\n---\nBuild it, then stop.' },
      ['key-without-effect START.md:1:1'],
    ],
    [
      'frontmatter whose first line begins with a blank',
      { 'START.md': ' ---\nallowed_transitions:\n- { tag: result }\n---\nBuild it, then stop.' },
      ['key-without-effect START.md:1:1'],
    ],
    [
      'a word with a colon above a line',
      { 'START.md': 'Model: opus is fine\n\n---\nBuild it. When done, answer with <result>x</result>.' },
      [],
    ],
    [
      'frontmatter that is an example',
      {
        'START.md':
          'Write a prompt like this:\n\n```\n---\nmodel: opus\n---\n```\nWhen done, answer with <result>x</result>.',
      },
      [],
    ],
    [
      'a line across the page',
      { 'START.md': '# Build\n\n---\n\nBuild it.\n\n---\n\nWhen done, answer with <result>x</result>.' },
      [],
    ],
    [
      'a policy without entries',
      { 'START.md': withKeys('allowed_transitions: []') },
      ['key-without-effect START.md:2:22'],
    ],
    [
      'a policy without entries or tags',
      { 'START.md': '---\nallowed_transitions: []\n---\nStop.' },
      ['no-way-out START.md:4:1'],
    ],
    ['a tool with a slip', { 'START.md': withKeys('disallowed_tools: bash(git *)') }, ['unknown-tool START.md:2:19']],
    [
      'tools in one text',
      { 'START.md': withKeys('allowed_tools: Read, Bsah(git log, git diff)') },
      ['unknown-tool START.md:2:16'],
    ],
    [
      'tools of others',
      { 'START.md': withKeys('allowed_tools: [mcp__git__log, Deploy, WebSearch, TeamCreate, TaskFetch]') },
      [],
    ],
    [
      'a mode that does not exist',
      { 'START.md': withKeys('permission_mode: accept-edits') },
      ['unknown-mode START.md:2:18'],
    ],
    ['a mode', { 'START.md': withKeys('permission_mode: bypassPermissions') }, []],
    ['a full id with a slip', { 'START.md': withKeys('model: claude-sonet-4-5') }, ['unknown-model START.md:2:8']],
    ['a full id', { 'START.md': withKeys('model: claude-sonnet-4-5-20250929') }, []],
    ['an id of others', { 'START.md': withKeys('model: us.anthropic.claude-opus-4-1-v1:0') }, []],
    ['a family that is not known yet', { 'START.md': withKeys('model: claude-fable-6') }, []],
    [
      'model and effort in each other’s place',
      { 'START.md': withKeys('model: high', 'effort: opus') },
      ['unknown-model START.md:2:8', 'unknown-effort START.md:3:9'],
    ],
    [
      'an entry that says what another says',
      {
        'START.md': policy(
          ['tag: goto, target: A.md', 'tag: goto, target: A', 'tag: result'],
          `If so <goto>A</goto>. ${END}`,
        ),
        'A.md': END,
      },
      ['key-without-effect START.md:4:5'],
    ],
  ]));

describe('variables of scripts:', () =>
  check([
    [
      'one that Raymond does not set',
      { 'START.sh': bash('echo "<result>$RAYMOND_RESULTS</result>"') },
      ['undefined-variable START.sh:2:15'],
    ],
    ['one that Raymond sets', { 'START.sh': bash('echo "<result>${RAYMOND_RESULT:-none}</result>"') }, []],
    ['one that the script sets', { 'START.sh': bash('RAYMOND_MINE=1', 'echo "<result>$RAYMOND_MINE</result>"') }, []],
    ['one in a comment', { 'START.sh': bash('# $RAYMOND_RESULTS', 'echo "<result>x</result>"') }, []],
    [
      'those of a batch file',
      { 'START.bat': '@echo ^<result^>%RAYMOND_RESLT%^</result^>\r\n' },
      ['undefined-variable START.bat:1:17'],
      { platform: 'windows' },
    ],
  ]));

describe('the start state', () => {
  const hintOf = (files: Readonly<Record<string, string>>, below: readonly string[] = []) =>
    lintSource(sourceOf(files, { below }))
      .filter(({ rule }) => rule === 'missing-entry')
      .map(({ message, hint }) => [message, hint]);
  const NONE = 'there is no state to start in: add a START.md or 1_START.md';

  test.each([
    ['with another ending', { 'START.markdown': END, 'A.md': END }, NONE, 'Rename START.markdown to START.md.'],
    ['with an ending in capitals', { 'START.MD': END }, 'there are no states here', 'Rename START.MD to START.md.'],
    ['of a folder without states', {}, 'there are no states here', 'Add a START.md, or name the folder that has one.'],
    [
      'of another system',
      { 'START.bat': END },
      'the state `START` exists only for Windows (START.bat); add START.sh to run it here',
      'Add the script for Unix; if the workflow is not for Unix, lint it with --platform windows.',
    ],
  ])('%s is named', (_, files, message, hint) => {
    expect(hintOf(files)).toStrictEqual([[message, hint]]);
  });

  test('is named with its path in a folder below', () => {
    expect(hintOf({}, ['states/START.md'])).toStrictEqual([
      ['there are no states here', 'There is a states/START.md: name its folder instead of this one.'],
    ]);
  });

  test('is not searched elsewhere if it exists', () => {
    expect(hintOf({ 'START.sh': SCRIPT })).toStrictEqual([]);
  });
});
