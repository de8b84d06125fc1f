import { stringify } from 'yaml';

/** A scenario as the text of a file, under a comment. */
export function scenarioText(scenario: object, comment: string): string {
  const lines = comment.split('\n').map((line) => `# ${line}`.trimEnd());
  return `${lines.join('\n')}\n${stringify(scenario, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false })}`;
}
