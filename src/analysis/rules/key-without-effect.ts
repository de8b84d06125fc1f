import type { Rule } from '../rule.ts';

/** The frontmatter says something that has no effect, such as a key that is misspelt. */
export const keyWithoutEffect: Rule = {
  id: 'key-without-effect',
  level: 'warning',
  check: ({ pages }) =>
    pages.flatMap(({ source }) =>
      source.findings.flatMap(({ severity, file, line, column, message }) => {
        if (severity !== 'warning') return [];
        return [{ file, at: { line, column }, message, hint: 'Correct it, or remove it.' }];
      }),
    ),
};
