import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packWorkflow, relocateWorkflows, unpackWorkflow } from '../../src/cluster/workflow-archive.ts';
import { openWorkflow } from '../../src/workflow/workflow.ts';
import { temporaryFolders } from '../storage/temp.ts';

const temporary = temporaryFolders();

const FILES = {
  'flows/main/START.md':
    '---\nallowed_transitions:\n  - { tag: call-workflow, target: ../review, return: END.md }\n---\nGo.\n',
  'flows/main/END.md': 'End.\n',
  'flows/review/START.sh': '#!/bin/bash\necho "<result>fine</result>"\n',
};

describe('a workflow in an archive', () => {
  test('comes out as it went in, with those that it calls, however many unpack it at the same time', async () => {
    const folder = temporary(FILES);
    const packed = await packWorkflow(await openWorkflow(join(folder, 'flows/main'), 'unix'));
    const target = temporary();
    const paths = await Promise.all(
      Array.from({ length: 20 }, () => unpackWorkflow(target, packed.hash, packed.path, async () => packed.archive)),
    );
    expect(new Set(paths)).toStrictEqual(new Set([join(target, packed.hash, 'main')]));
    for (const [name, content] of Object.entries(FILES))
      expect(readFileSync(join(target, packed.hash, name.replace('flows/', '')), 'utf8')).toBe(content);
    expect(readdirSync(target)).toStrictEqual([packed.hash]);
    const unpacked = await openWorkflow(join(target, packed.hash, 'main'), 'unix');
    expect(unpacked.name).toBe('main');
    expect((await packWorkflow(unpacked)).hash).toBe(packed.hash);
  });

  test('keeps private what it unpacks', async () => {
    const packed = await packWorkflow(await openWorkflow(join(temporary(FILES), 'flows/review'), 'unix'));
    const target = temporary();
    const path = await unpackWorkflow(target, packed.hash, packed.path, async () => packed.archive);
    expect(statSync(join(path, 'START.sh')).mode & 0o077).toBe(0);
  });

  test('is found where this worker has it, also if another one has entered it', () => {
    const known = { review: { path: '/there/workflows/abc/review', variables: {} } };
    expect(relocateWorkflows(known, '/here/workflows', 'abc').review?.path).toBe('/here/workflows/abc/review');
    expect(relocateWorkflows(known, '/here/workflows', 'other')).toStrictEqual(known);
  });
});
