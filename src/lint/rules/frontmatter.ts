import { defineRule } from '../rule.ts';

/** The frontmatter of a state or the manifest has an error; Raymond refuses to run the workflow. */
export const frontmatter = defineRule(
  { id: 'frontmatter', level: 'error', blocksStart: 'always', supersedes: ['unreachable-state'] },
  ({ workflow, analyses }) =>
    [...(workflow.findings ?? []), ...analyses.flatMap(({ source }) => source.findings)].flatMap(
      ({ level, file, line, column, message }) => {
        if (level !== 'error') return [];
        return [{ file, at: { line, column }, message, hint: 'Correct it: the workflow cannot start until then.' }];
      },
    ),
);
