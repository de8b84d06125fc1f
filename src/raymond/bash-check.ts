import type { ScriptFault, Sheet, SheetFile, StateSheet } from '../analysis/sheet.ts';
import { parseScript } from '../analysis/shell/parse.ts';
import { mapConcurrently } from '../workflow/concurrent.ts';
import { askProgram } from './ask-program.ts';

const MOST_AT_ONCE = 4;
const TIMEOUT_MS = 5_000;

/** Asks bash about the scripts that we make nothing of ourselves: it reads them without running anything. */
export async function withScriptFaults(sheet: Sheet): Promise<Sheet> {
  if (!sheet.files.some(isDoubtful)) return sheet;
  const files = await mapConcurrently(sheet.files, MOST_AT_ONCE, async (file) =>
    isDoubtful(file) ? { ...file, fault: await faultIn(file.text) } : file,
  );
  return { ...sheet, files };
}

/** A script with CRs in it is another matter: bash stumbles over them alone. */
const isDoubtful = (file: SheetFile): file is StateSheet =>
  file.kind === 'state' &&
  file.file.endsWith('.sh') &&
  !file.text.includes('\r') &&
  parseScript(file.text) === undefined;

async function faultIn(script: string): Promise<ScriptFault | null> {
  const env = { LC_ALL: 'C' };
  const { stderr, code } = await askProgram('/bin/bash', ['-O', 'extglob', '-n'], {
    cwd: '/',
    env,
    timeoutMs: TIMEOUT_MS,
    stdin: script,
  });
  const [, line, message] = /line (\d+): (?!warning)(.*)/.exec(stderr) ?? [];
  if (code === 0 || line === undefined || message === undefined) return null;
  return { at: { line: Number(line), column: 1 }, message };
}
