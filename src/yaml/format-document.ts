import { stringify } from 'yaml';

/** A scenario as the text of a file, under a comment. */
export function formatYamlDocument(value: object, comment: string): string {
  const lines = comment.split('\n').map((line) => `# ${line}`.trimEnd());
  return `${lines.join('\n')}\n${stringify(value, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false })}`;
}
