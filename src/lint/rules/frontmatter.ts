import { findForcedTransitionProblems } from '../../graph/forced-transition.ts';
import { defineRule } from '../rule.ts';

/** The frontmatter of a state or the manifest has an error; Raymond refuses to run the workflow. */
export const frontmatter = defineRule(
  { id: 'frontmatter', level: 'error', blocksStart: 'always', supersedes: ['unreachable-state'] },
  ({ workflow, analyses }) => {
    const findings = [...(workflow.findings ?? []), ...analyses.flatMap(({ source }) => source.findings)];
    const errors = findings.filter(({ level }) => level === 'error');
    return [
      ...errors.map(({ file, line, column, message }) => ({ file, at: { line, column }, message, hint: HINT })),
      ...analyses.flatMap(({ file, source }) =>
        findForcedTransitionProblems(source).map((problem) => ({ file, ...problem, hint: HINT })),
      ),
    ];
  },
);

const HINT = 'Correct it: the workflow cannot start until then.';
