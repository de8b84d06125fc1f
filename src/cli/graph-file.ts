import { readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import type { GraphFormat } from '../app/workflows/draw-graph.ts';
import { currentPlatform } from '../app/workflows/platform.ts';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { isNotDocFile, isStateFile, resolveEntry } from '../language/state-names.ts';
import { sanitizeLine } from '../render/sanitize.ts';
import { usageError } from './command.ts';

const FORMATS_BY_EXTENSION: Readonly<Record<string, GraphFormat>> = {
  '.mmd': 'mermaid',
  '.mermaid': 'mermaid',
  '.md': 'mermaid',
  '.svg': 'svg',
  '.html': 'html',
  '.htm': 'html',
};

/** The format that the extension of a file asks for; `otherwise` names another way to choose it. */
export function detectGraphFormat(output: string, otherwise = ''): GraphFormat {
  const extension = extname(output).toLowerCase();
  const format = Object.hasOwn(FORMATS_BY_EXTENSION, extension) ? FORMATS_BY_EXTENSION[extension] : undefined;
  if (format !== undefined) return format;
  const extensions = Object.keys(FORMATS_BY_EXTENSION).join(', ');
  throw usageError(
    `the format is not clear from the name \`${sanitizeLine(output)}\``,
    `Use one of the extensions ${extensions}${otherwise}.`,
  );
}

/** Writes a drawing to the file of an option; in a markdown file it stands in a fence, so that GitHub draws it. */
export function writeGraphFile(path: string, text: string, option: string): void {
  try {
    writeFileSync(path, extname(path) === '.md' ? `\`\`\`mermaid\n${text}\`\`\`\n` : text);
  } catch (cause) {
    const hint = `Choose another file for ${option}.`;
    throw new RaymondError(`${path} cannot be written: ${errorCodeOf(cause)}`, { exitCode: EXIT.usage, hint, cause });
  }
}

/** Refuses a file that would become a state of a workflow. Call it before the work that leads to the drawing. */
export function refuseStateFile(path: string, option: string): void {
  if (!isStateOfWorkflow(path)) return;
  const message = `${path} would be a state of the workflow in that folder`;
  throw usageError(message, `Choose another folder for ${option}, or another extension, such as .mmd, .svg or .html.`);
}

/** True for a file with the extension of a state beside a START file; README.md and the like are no states. */
function isStateOfWorkflow(path: string): boolean {
  const name = basename(path);
  if (!isStateFile(name) || !isNotDocFile(name)) return false;
  try {
    return resolveEntry({ files: readdirSync(dirname(path)), platform: currentPlatform() }).kind !== 'unknown';
  } catch {
    // Writing the file will fail, too, and say why.
    return false;
  }
}
