/** A prompt file cut in two. The YAML, if there is any, begins on line 2 of the file. */
export type Parts =
  | { readonly kind: 'plain'; readonly body: string }
  | { readonly kind: 'fenced'; readonly yaml: string; readonly body: string }
  | { readonly kind: 'unclosed'; readonly message: string };

const FENCE = /^---[ \t]*\r?$/;

const UNCLOSED =
  'the frontmatter that this `---` opens is never closed: put a line `---` after its last key; ' +
  'if it was meant as a rule across the page, put an empty line before it';

/** Separates the frontmatter of a prompt from its body. The body is left as it is, line ends included. */
export function splitPrompt(text: string): Parts {
  const whole = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const opened = lineEnd(whole, 0);
  if (!FENCE.test(whole.slice(0, opened))) return { kind: 'plain', body: whole };
  for (let start = opened + 1; start <= whole.length; ) {
    const end = lineEnd(whole, start);
    if (FENCE.test(whole.slice(start, end))) {
      return { kind: 'fenced', yaml: whole.slice(opened + 1, start), body: whole.slice(end + 1) };
    }
    start = end + 1;
  }
  return { kind: 'unclosed', message: UNCLOSED };
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
