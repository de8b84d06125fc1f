import { isStateFile } from '../../core/state-names.ts';
import { WHOLE_FILE } from '../../core/text-position.ts';
import type { WorkflowSource } from '../../graph/workflow-source.ts';
import { defineRule } from '../rule.ts';
import { hintForForeign } from './foreign-state.ts';

/** There is no state to start in. */
export const missingEntry = defineRule(
  { id: 'missing-entry', level: 'error', blocksStart: 'always' },
  ({ workflow }) => {
    const { entry, name, files } = workflow;
    if (entry.kind === 'found' || entry.kind === 'ambiguous') return [];
    const isEmpty = entry.kind === 'unknown' && !files.some(({ file }) => isStateFile(file));
    const message = isEmpty ? 'there are no states here' : entry.message;
    return [{ file: name, at: WHOLE_FILE, message, hint: hintFor(workflow, isEmpty) }];
  },
);

/** A name that is right but for its ending. */
const ALMOST_START = /^((?:1_)?START)\.(md|markdown|mdown|mdx|txt|sh|bash|bat|ps1)$/i;

function hintFor(workflow: WorkflowSource, isEmpty: boolean): string {
  const { entry, files, below = [] } = workflow;
  if (entry.kind === 'foreign') return hintForForeign(workflow);
  const [, base, ending] = files.map(({ file }) => ALMOST_START.exec(file)).find((found) => found !== null) ?? [];
  if (base !== undefined && ending !== undefined) {
    const right = /^(?:sh|bash)$/i.test(ending) ? 'sh' : /^(?:bat|ps1)$/i.test(ending) ? ending.toLowerCase() : 'md';
    return `Rename ${base}.${ending} to ${base.toUpperCase()}.${right}.`;
  }
  const [first] = below;
  if (first !== undefined) return `There is a ${first}: name its folder instead of this one.`;
  return isEmpty
    ? 'Add a START.md, or name the folder that has one.'
    : 'A folder or a zip starts in the state 1_START or START: rename the one that comes first.';
}
