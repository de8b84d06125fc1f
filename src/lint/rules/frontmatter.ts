import { defineRule } from '../rule.ts';

/** The frontmatter of a prompt has an error; Raymond refuses to run the workflow. */
export const frontmatter = defineRule(
  { id: 'frontmatter', level: 'error', blocksStart: 'always', supersedes: ['unreachable-state'] },
  ({ analyses }) =>
    analyses.flatMap(({ source }) =>
      source.findings.flatMap(({ severity, file, line, column, message }) => {
        if (severity !== 'error') return [];
        return [{ file, at: { line, column }, message, hint: 'Correct it: the workflow cannot start until then.' }];
      }),
    ),
);
