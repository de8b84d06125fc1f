import { readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { isNotDocFile, isStateFile, resolveEntry } from '../core/state-names.ts';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { sanitizeLine } from '../events/sanitize.ts';
import type { GraphFormat } from '../runtime/draw-graph.ts';
import { currentPlatform } from '../runtime/platform.ts';
import { usageError } from './usage-error.ts';

const FORMATS_BY_EXTENSION: Readonly<Record<string, GraphFormat>> = {
  '.mmd': 'mermaid',
  '.mermaid': 'mermaid',
  '.md': 'mermaid',
  '.svg': 'svg',
  '.html': 'html',
  '.htm': 'html',
};

/** The format that the name of a file asks for; `orElse` is what else could say it. */
export function detectGraphFormat(output: string, otherwise = ''): GraphFormat {
  const extension = extname(output).toLowerCase();
  const format = Object.hasOwn(FORMATS_BY_EXTENSION, extension) ? FORMATS_BY_EXTENSION[extension] : undefined;
  if (format !== undefined) return format;
  const extensions = Object.keys(FORMATS_BY_EXTENSION).join(', ');
  throw usageError(
    `the format cannot be told from \`${sanitizeLine(output)}\``,
    `Let it end in one of ${extensions}${otherwise}.`,
  );
}

/** Writes a drawing where an option says; in a page of markdown it stands in a fence, as GitHub draws it. */
export function writeGraphFile(path: string, text: string, option: string): void {
  try {
    writeFileSync(path, extname(path) === '.md' ? `\`\`\`mermaid\n${text}\`\`\`\n` : text);
  } catch (cause) {
    const hint = `Choose another place for ${option}.`;
    throw new RaymondError(`${path} cannot be written: ${errorCodeOf(cause)}`, { exitCode: EXIT.usage, hint, cause });
  }
}

/** Refuses to write where the drawing would become a part of a workflow, before anything is done for it. */
export function refuseStateFile(path: string, option: string): void {
  if (!isStateOfWorkflow(path)) return;
  const message = `${path} would be a state of the workflow in that folder`;
  throw usageError(message, `Choose another folder for ${option}, or another ending, such as .mmd, .svg or .html.`);
}

/** Whatever has the ending of a state and lies beside a START is one; files such as a README.md are not. */
function isStateOfWorkflow(path: string): boolean {
  const name = basename(path);
  if (!isStateFile(name) || !isNotDocFile(name)) return false;
  try {
    return resolveEntry({ files: readdirSync(dirname(path)), platform: currentPlatform() }).kind !== 'unknown';
  } catch {
    // Why nothing can be written there is said by whoever tries.
    return false;
  }
}
