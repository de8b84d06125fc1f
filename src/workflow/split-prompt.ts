/** A prompt file cut in two. The YAML, if there is any, begins on line 2 of the file. */
export type PromptFileParts =
  | { readonly kind: 'plain'; readonly body: string }
  | { readonly kind: 'fenced'; readonly yaml: string; readonly body: string }
  | { readonly kind: 'unclosed'; readonly message: string };

const FENCE = /^---[ \t]*\r?$/;

const UNCLOSED_MESSAGE =
  'the frontmatter that this `---` opens is never closed: put a line `---` after its last key; ' +
  'if it was meant as a rule across the page, put an empty line before it';

/** Separates the frontmatter of a prompt from its body. The body is left as it is, line ends included. */
export function splitPrompt(text: string): PromptFileParts {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const openingEnd = findLineEnd(content, 0);
  if (!FENCE.test(content.slice(0, openingEnd))) return { kind: 'plain', body: content };
  for (let start = openingEnd + 1; start <= content.length; ) {
    const end = findLineEnd(content, start);
    if (FENCE.test(content.slice(start, end))) {
      return { kind: 'fenced', yaml: content.slice(openingEnd + 1, start), body: content.slice(end + 1) };
    }
    start = end + 1;
  }
  return { kind: 'unclosed', message: UNCLOSED_MESSAGE };
}

function findLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
