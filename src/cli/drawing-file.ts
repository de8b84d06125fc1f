import { writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { oneLine } from '../observers/harmless.ts';
import type { GraphFormat } from '../raymond/graph.ts';
import { usage } from './usage.ts';

const ENDINGS: Readonly<Record<string, GraphFormat>> = {
  '.mmd': 'mermaid',
  '.mermaid': 'mermaid',
  '.md': 'mermaid',
  '.svg': 'svg',
  '.html': 'html',
  '.htm': 'html',
};

/** The format that the name of a file asks for; `orElse` is what else could say it. */
export function formatFor(output: string, orElse = ''): GraphFormat {
  const ending = extname(output).toLowerCase();
  const format = Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
  if (format !== undefined) return format;
  const known = Object.keys(ENDINGS).join(', ');
  throw usage(`the format cannot be told from \`${oneLine(output)}\``, `Let it end in one of ${known}${orElse}.`);
}

/** Writes a drawing where an option says; in a page of markdown it stands in a fence, as GitHub draws it. */
export function writeDrawing(path: string, text: string, option: string): void {
  try {
    writeFileSync(path, extname(path) === '.md' ? `\`\`\`mermaid\n${text}\`\`\`\n` : text);
  } catch (cause) {
    const hint = `Choose another place for ${option}.`;
    throw new RaymondError(`${path} cannot be written: ${codeOf(cause)}`, { exitCode: EXIT.usage, hint, cause });
  }
}
