import type { WorkflowSource } from '../../graph/workflow-source.ts';
import { isStateFile } from '../../language/state-names.ts';
import { WHOLE_FILE } from '../../language/text/text-position.ts';
import { defineRule } from '../rule.ts';
import { hintForForeign } from './foreign-state.ts';
import { correctEnding } from './missing-state.ts';

/** There is no state to start in. */
export const missingEntry = defineRule(
  { id: 'missing-entry', level: 'error', blocksStart: 'always' },
  ({ workflow }) => {
    const { entry, name, files } = workflow;
    if (entry.kind === 'found' || entry.kind === 'ambiguous') return [];
    // Why a file has no states at all is said already.
    if (files.length === 0 && workflow.findings?.some(({ level }) => level === 'error')) return [];
    const isEmpty = entry.kind === 'unknown' && !files.some(({ file }) => isStateFile(file));
    const message = isEmpty ? 'there are no states here' : entry.message;
    return [{ file: name, at: WHOLE_FILE, message, hint: hintFor(workflow, isEmpty) }];
  },
);

/** A name that may be right but for its ending, or its letter case. */
const ALMOST_START = /^((?:1_)?START)\.(\w+)$/i;

function hintFor(workflow: WorkflowSource, isEmpty: boolean): string {
  const { entry, files, below = [] } = workflow;
  if (entry.kind === 'foreign') return hintForForeign(workflow);
  for (const { file } of files) {
    const [, base = '', ending = ''] = ALMOST_START.exec(file) ?? [];
    const right = correctEnding(ending);
    if (right !== undefined) return `Rename ${file} to ${base.toUpperCase()}.${right}.`;
  }
  const [first] = below;
  if (first !== undefined) return `There is a ${first}: name its folder instead of this one.`;
  return isEmpty
    ? 'Add a START.md, or name the folder that has one.'
    : 'A folder or a zip starts in the state 1_START or START: rename the one that comes first.';
}
