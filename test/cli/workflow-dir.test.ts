/** Scripts find what lies beside them, whatever kind of workflow they belong to. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildZip } from '../workflow/zip-builder.ts';
import { newCliProject } from './cli-project.ts';
import { writeWorkflow } from './owners.ts';

const SCRIPT = 'echo "<result>$(cat "$RAYMOND_WORKFLOW_DIR/words.txt") $(cat "$(dirname "$0")/words.txt")</result>"\n';
const FILES = { 'START.sh': SCRIPT, 'words.txt': 'hello' };

test('RAYMOND_WORKFLOW_DIR is the folder of a workflow, or where a zip or a one-file workflow is unpacked', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', FILES);
  writeFileSync(join(cwd, 'a.zip'), buildZip(Object.entries(FILES).map(([name, data]) => ({ name, data }))));
  const start = '    sh: |\n      . "$RAYMOND_WORKFLOW_DIR/LIB.sh"\n      say hello\n';
  const lib = '    sh: |\n      say() { echo "<result>$1 $1</result>"; }\n';
  writeFileSync(join(cwd, 'flow.yaml'), `states:\n  START:\n${start}  LIB:\n${lib}`);
  for (const workflow of ['wf', 'a.zip', 'flow.yaml']) {
    const { code, out, err } = await raymond(workflow, '--json');
    expect({ workflow, code, err: code === 0 ? '' : err }).toStrictEqual({ workflow, code: 0, err: '' });
    expect(JSON.parse(out).results.main).toBe('hello hello');
  }
});
