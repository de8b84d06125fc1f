import { describe, expect, test } from 'vitest';
import { lintSource } from '../../../src/lint/lint.ts';
import { sourceOf } from '../source-of.ts';
import { bash, check, END, SCRIPT } from './check.ts';

const MARK = '\uFEFF';
const BATCH = '@echo off\r\necho ^<result^>x^</result^>\r\n';

describe('byte order marks:', () =>
  check([
    ['before a prompt', { 'START.md': `${MARK}${END}` }, []],
    ['before a script', { 'START.sh': `${MARK}${SCRIPT}` }, ['byte-order-mark START.sh:1:1']],
    [
      'before a script for another program',
      { 'START.sh': `${MARK}#!/usr/bin/env python3\necho "<result>x</result>"\n` },
      ['byte-order-mark START.sh:1:1', 'other-shebang START.sh:1:1'],
    ],
    ['before a batch file', { 'START.bat': MARK + BATCH }, ['byte-order-mark START.bat:1:1'], { platform: 'windows' }],
    [
      'before a script of PowerShell, which wants one',
      { 'START.ps1': `${MARK}Write-Output "<result>x</result>"\n` },
      [],
      { platform: 'windows' },
    ],
    ['later on', { 'START.sh': bash(`echo "<result>${MARK}</result>"`) }, []],
  ]));

test.each([
  ['#!/bin/bash\necho "<result>x</result>"\n', 'warning', 'complains about that line'],
  ['\necho "<result>x</result>"\n', 'warning', 'complains about that line'],
  ['cd src\necho "<result>x</result>"\n', 'error', 'does not run that line'],
])('a byte order mark has the level of its effect: %j', (script, level, what) => {
  const [found] = lintSource(sourceOf({ 'START.sh': MARK + script })).filter(({ rule }) => rule === 'byte-order-mark');
  expect(found).toMatchObject({ level, message: expect.stringContaining(what) });
});
