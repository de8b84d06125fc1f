import { renderTemplate } from '../../core/template.ts';
import type { CannedAnswer } from '../../scenario/scenario.ts';

/** A canned answer with the agent's variables filled in, and those it asked for in vain. */
export function renderAnswer(
  answer: CannedAnswer,
  variables: Readonly<Record<string, string>>,
): { readonly answer: CannedAnswer; readonly unknown: readonly string[] } {
  const unknown = new Set<string>();
  const fill = (template: string): string => {
    const filled = renderTemplate(template, variables);
    for (const name of filled.unknown) unknown.add(name);
    return filled.text;
  };
  const write = Object.entries(answer.write).map(([name, content]) => [fill(name), fill(content)]);
  const filled = {
    ...answer,
    text: fill(answer.text),
    stderr: fill(answer.stderr),
    uses: answer.uses.map(fill),
    deny: answer.deny.map(fill),
    write: Object.fromEntries(write),
  };
  return { answer: filled, unknown: [...unknown] };
}
