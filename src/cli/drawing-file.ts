import { readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { isNoNote, isStateFile, resolveEntry } from '../core/names.ts';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { oneLine } from '../observers/harmless.ts';
import type { GraphFormat } from '../raymond/graph.ts';
import { thisPlatform } from '../raymond/platform.ts';
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

/** Refuses to write where the drawing would become a part of a workflow, before anything is done for it. */
export function refuseState(path: string, option: string): void {
  if (!wouldBeState(path)) return;
  const message = `${path} would be a state of the workflow in that folder`;
  throw usage(message, `Choose another folder for ${option}, or another ending, such as .mmd, .svg or .html.`);
}

/** Whatever has the ending of a state and lies beside a START is one; files such as a README.md are not. */
function wouldBeState(path: string): boolean {
  const name = basename(path);
  if (!isStateFile(name) || !isNoNote(name)) return false;
  try {
    return resolveEntry({ files: readdirSync(dirname(path)), platform: thisPlatform() }).kind !== 'unknown';
  } catch {
    // Why nothing can be written there is said by whoever tries.
    return false;
  }
}
