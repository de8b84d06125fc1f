import { describe, expect, test } from 'vitest';
import {
  isPrompt,
  isStateFile,
  type Platform,
  resolveEntry,
  resolveState,
  runsOn,
  stem,
} from '../../src/language/state-names.ts';
import { scopeOf } from '../core/builders.ts';

/** What a name comes to among these files: the file, or the kind of failure. */
function outcome(name: string, files: string, platform: Platform): string {
  const found = resolveState(name, scopeOf(files.split(' '), platform));
  return found.kind === 'found' ? found.file : found.kind;
}

const messageOf = (found: ReturnType<typeof resolveState>): string => (found.kind === 'found' ? '' : found.message);

describe('a name of a state', () => {
  test.each([
    // name, files, on Unix, on Windows
    ['A', 'A.md', 'A.md', 'A.md'],
    ['A', 'A.sh', 'A.sh', 'foreign'],
    ['A', 'A.bat', 'foreign', 'A.bat'],
    ['A', 'A.ps1', 'foreign', 'A.ps1'],
    ['A', 'A.bat A.ps1', 'foreign', 'ambiguous'],
    ['A', 'A.md A.sh', 'ambiguous', 'A.md'],
    ['A', 'A.md A.bat', 'A.md', 'ambiguous'],
    ['A', 'A.md A.ps1', 'A.md', 'ambiguous'],
    ['A', 'A.sh A.bat', 'A.sh', 'A.bat'],
    ['A', 'A.sh A.ps1', 'A.sh', 'A.ps1'],
    ['A', 'A.sh A.bat A.ps1', 'A.sh', 'ambiguous'],
    ['A', 'A.md A.sh A.bat A.ps1', 'ambiguous', 'ambiguous'],
    ['A.md', 'A.md A.sh A.bat', 'A.md', 'A.md'],
    ['A.sh', 'A.md A.sh A.bat', 'A.sh', 'foreign'],
    ['A.bat', 'A.md A.sh A.bat', 'foreign', 'A.bat'],
    ['A.ps1', 'A.ps1 A.bat', 'foreign', 'A.ps1'],
    ['A.sh', 'A.md', 'unknown', 'unknown'],
    ['A.md', 'A.sh A.bat', 'unknown', 'unknown'],
    ['v1.2', 'v1.2.md', 'v1.2.md', 'v1.2.md'],
    ['v1.2.md', 'v1.2.md', 'v1.2.md', 'v1.2.md'],
    ['v1', 'v1.2.md', 'unknown', 'unknown'],
    ['A.txt', 'A.txt A.md', 'unknown', 'unknown'],
    ['A.txt', 'A.txt.md', 'A.txt.md', 'A.txt.md'],
    ['A.MD', 'A.MD', 'unknown', 'unknown'],
    ['A.md', 'A.md.md', 'unknown', 'unknown'],
    ['a', 'A.md', 'unknown', 'unknown'],
    ['a.md', 'A.md', 'unknown', 'unknown'],
    ['A', 'A', 'unknown', 'unknown'],
    ['.md', '.md', 'unknown', 'unknown'],
    ['B', 'A.md', 'unknown', 'unknown'],
    ['', 'A.md', 'unsafe', 'unsafe'],
    ['x/A.md', 'A.md', 'unsafe', 'unsafe'],
    ['..\\A.md', 'A.md', 'unsafe', 'unsafe'],
    ['/A', 'A.md', 'unsafe', 'unsafe'],
    ['A\0.md', 'A\0.md', 'unsafe', 'unsafe'],
  ])('%j among %s is %s on Unix and %s on Windows', (name, files, unix, windows) => {
    expect(outcome(name, files, 'unix')).toBe(unix);
    expect(outcome(name, files, 'windows')).toBe(windows);
  });

  test.each([
    ['an empty one', '', 'A.md', 'the name of the state is empty'],
    ['a path', 'x/A.md', 'A.md', '`x/A.md` contains `/`: name a state of this workflow, not a path'],
    ['a path of Windows', 'x\\A', 'A.md', '`x\\A` contains `\\`: name a state of this workflow, not a path'],
    ['a NUL', 'A\0', 'A.md', '"A\\u0000" contains a NUL character'],
    ['two files', 'A', 'A.md A.sh', 'the state `A` is ambiguous: A.md and A.sh both exist; write the extension'],
    ['a foreign script', 'A', 'A.bat', 'the state `A` exists only for Windows (A.bat); add A.sh to run it here'],
    [
      'two foreign scripts',
      'A',
      'A.bat A.ps1',
      'the state `A` exists only for Windows (A.ps1, A.bat); add A.sh to run it here',
    ],
    [
      'a foreign script by its file',
      'A.bat',
      'A.bat A.md',
      'the state `A.bat` exists only for Windows (A.bat); add A.sh to run it here',
    ],
    [
      'a foreign script with one for this system',
      'A.bat',
      'A.bat A.sh',
      'the state `A.bat` is only for Windows; without its extension, `A` is A.sh here',
    ],
    ['an unknown one', 'X', 'REVIEW.md', 'there is no state `X` in this workflow'],
    ['another letter', 'X.md', 'A.md B.md', 'there is no state `X.md` in this workflow'],
    ['two other letters', 'GO.md', 'DO.md AB.md', 'there is no state `GO.md` in this workflow'],
    ['another short word', 'FIX.md', 'ASK.md RUN.md', 'there is no state `FIX.md` in this workflow'],
    ['the next number', 'STEP_3', 'STEP_1.md STEP_2.md', 'there is no state `STEP_3` in this workflow'],
    [
      'a number that is written otherwise',
      'STEP_3.md',
      'STEP_03.md STEP_2.md',
      'there is no state `STEP_3.md` in this workflow (did you mean STEP_03.md?)',
    ],
    [
      'a slip with another extension',
      'REVEIW.md',
      'REVIEW.sh',
      'there is no state `REVEIW.md` in this workflow (did you mean REVIEW.sh?)',
    ],
    ['a slip', 'REVEIW', 'REVIEW.md', 'there is no state `REVEIW` in this workflow (did you mean REVIEW?)'],
    [
      'a slip with its extension',
      'REVEIW.md',
      'REVIEW.md',
      'there is no state `REVEIW.md` in this workflow (did you mean REVIEW.md?)',
    ],
    [
      'another letter case',
      'review',
      'REVIEW.md',
      'there is no state `review` in this workflow (did you mean REVIEW?)',
    ],
    [
      'another case of the extension',
      'REVIEW.MD',
      'REVIEW.md',
      'there is no state `REVIEW.MD` in this workflow (did you mean REVIEW.md?)',
    ],
    [
      'the wrong extension',
      'REVIEW.sh',
      'REVIEW.md',
      'there is no state `REVIEW.sh` in this workflow (did you mean REVIEW.md?)',
    ],
    [
      'a file that is no state',
      'notes.txt',
      'notes.txt A.md',
      "there is no state `notes.txt` in this workflow; a state's file ends in .md, .sh, .ps1, .bat",
    ],
    ['no file of the folder but states', 'note.txt', 'notes.txt A.md', 'there is no state `note.txt` in this workflow'],
    ['a whole story', 'x'.repeat(5000), 'A.md', `there is no state \`${'x'.repeat(60)}…\` in this workflow`],
    [
      'a whole story with a slash',
      `/${'x'.repeat(5000)}`,
      'A.md',
      `\`/${'x'.repeat(59)}…\` contains \`/\`: name a state of this workflow, not a path`,
    ],
  ])('is reported precisely: %s', (_, name, files, message) => {
    expect(messageOf(resolveState(name, scopeOf(files.split(' '))))).toBe(message);
  });

  test.each([
    ['A', 'A.sh', 'the state `A` exists only for Unix (A.sh); add A.ps1 or A.bat to run it here'],
    ['A', 'A.ps1 A.bat', 'the state `A` is ambiguous: A.ps1 and A.bat both exist; write the extension'],
    ['A', 'A.md A.ps1 A.bat', 'the state `A` is ambiguous: A.md and A.ps1 and A.bat all exist; write the extension'],
  ])('is reported precisely on Windows: %s among %s', (name, files, message) => {
    expect(messageOf(resolveState(name, scopeOf(files.split(' '), 'windows')))).toBe(message);
  });
});

describe('a folder', () => {
  const NONE = 'there is no state to start in: add a START.md or 1_START.md';

  test.each([
    ['1_START', 'A.md 1_START.md', '1_START.md'],
    ['START, if there is no 1_START', 'A.md START.md', 'START.md'],
    ['a script', 'START.sh', 'START.sh'],
    ['the one that runs here', '1_START.md START.bat', '1_START.md'],
    ['the one that runs here, even if it is the second choice', '1_START.bat START.md', 'START.md'],
  ])('starts in %s', (_, files, file) => {
    expect(resolveEntry(scopeOf(files.split(' ')))).toStrictEqual({ kind: 'found', file });
  });

  test.each([
    ['there is no entry', 'A.md', 'unknown', NONE],
    [
      'its case is another',
      'A.md Start.md',
      'unknown',
      `${NONE}; Start.md is another name, because upper and lower case count`,
    ],
    [
      'its case is another, with the number',
      '1_Start.sh',
      'unknown',
      `${NONE}; 1_Start.sh is another name, because upper and lower case count`,
    ],
    ['it is misspelt', 'A.md STRAT.sh', 'unknown', `${NONE} (did you mean STRAT.sh?)`],
    ['it is misspelt with its number', '1-START.md A.md', 'unknown', `${NONE} (did you mean 1-START.md?)`],
    ['it has another number', '2_START.md', 'unknown', NONE],
    ['there are no files', '', 'unknown', NONE],
    [
      'there are both',
      '1_START.md START.md',
      'ambiguous',
      'it could start in 1_START.md or in START.md: keep only one of them',
    ],
    [
      'there are both, of different kinds',
      'START.md 1_START.sh',
      'ambiguous',
      'it could start in 1_START.sh or in START.md: keep only one of them',
    ],
    [
      'there are both, the first one twice',
      'START.md 1_START.md 1_START.sh',
      'ambiguous',
      'it could start in 1_START.md or in 1_START.sh or in START.md: keep only one of them',
    ],
    [
      'there are both, the second one twice',
      'START.md START.sh 1_START.md',
      'ambiguous',
      'it could start in 1_START.md or in START.md or in START.sh: keep only one of them',
    ],
    [
      'there is one, but twice',
      'START.md START.sh',
      'ambiguous',
      'it could start in START.md or in START.sh: keep only one of them',
    ],
    [
      'it starts only elsewhere',
      'START.bat',
      'foreign',
      'the state `START` exists only for Windows (START.bat); add START.sh to run it here',
    ],
  ])('cannot start if %s', (_, files, kind, message) => {
    expect(resolveEntry(scopeOf(files.split(' ')))).toStrictEqual({ kind, message });
  });
});

test.each([
  // file, is a state, is a prompt, runs on Unix, runs on Windows, stem
  ['A.md', true, true, true, true, 'A'],
  ['A.sh', true, false, true, false, 'A'],
  ['A.bat', true, false, false, true, 'A'],
  ['A.ps1', true, false, false, true, 'A'],
  ['v1.2.md', true, true, true, true, 'v1.2'],
  ['v1.2', false, false, false, false, 'v1.2'],
  ['A.MD', false, false, false, false, 'A.MD'],
  ['A.txt', false, false, false, false, 'A.txt'],
  ['.md', false, false, false, false, '.md'],
  ['A', false, false, false, false, 'A'],
])('recognizes the file %s', (file, state, prompt, unix, windows, name) => {
  expect([isStateFile(file), isPrompt(file), runsOn(file, 'unix'), runsOn(file, 'windows'), stem(file)]).toStrictEqual([
    state,
    prompt,
    unix,
    windows,
    name,
  ]);
});
