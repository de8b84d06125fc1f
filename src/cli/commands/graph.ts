import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Platform } from '../../core/names.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { oneLine } from '../../observers/harmless.ts';
import { type Drawing, drawRun, drawWorkflow, GRAPH_FORMATS, type GraphFormat } from '../../raymond/graph.ts';
import { formatFor, refuseState, writeDrawing } from '../drawing-file.ts';
import type { Carry, Words } from '../entry.ts';
import { workflowHere } from '../here.ts';
import { usage } from '../usage.ts';
import { choiceOf, textOf } from '../words.ts';

/** `raymond graph [WORKFLOW]`, `raymond graph RUN`: a picture of a workflow, or of a run over it. */
export const graph: Carry = async ([wanted], words, { cwd, out, err }) => {
  const output = textOf(words, 'output');
  const format =
    choiceOf(words, 'format', GRAPH_FORMATS) ??
    (output === undefined ? 'mermaid' : formatFor(output, ', or give --format'));
  if (output !== undefined) refuseState(resolve(cwd, output), '--output');
  const { text, warning } = await drawingOf(wanted, format, words, cwd);
  if (warning !== null) err(`warning: ${oneLine(warning)}\n`);
  if (output === undefined) out(text);
  else {
    writeDrawing(resolve(cwd, output), text, '--output');
    err(`${oneLine(output)} is written.\n`);
  }
  return EXIT.completed;
};

/** What exists is a workflow; what does not may be a run. */
async function drawingOf(wanted: string | undefined, format: GraphFormat, words: Words, cwd: string): Promise<Drawing> {
  const run = textOf(words, 'run');
  if (run !== undefined) {
    if (wanted !== undefined) throw usage(`draw \`${oneLine(wanted)}\` or the run \`${oneLine(run)}\`, not both`);
    return drawRun(run, format, cwd);
  }
  const platform = choiceOf(words, 'platform', PLATFORMS);
  const path = resolve(cwd, wanted ?? workflowHere(cwd, platform, 'Name a folder, a .zip, a state file or a run.'));
  if (wanted !== undefined && wanted !== '' && !existsSync(path))
    return drawRun(wanted, format, cwd).catch((error) => refuse(error, wanted, path));
  return drawWorkflow(path, format, { cwd, ...(platform !== undefined && { platform }) });
}

const PLATFORMS: readonly Platform[] = ['unix', 'windows'];

const UNKNOWN_RUN = 'no such run: ';

/** Who names neither a workflow nor a run may have meant either. */
async function refuse(error: unknown, wanted: string, path: string): Promise<never> {
  if (!(error instanceof RaymondError) || !error.message.startsWith(UNKNOWN_RUN)) throw error;
  const meant = error.message.slice(UNKNOWN_RUN.length + wanted.length);
  const { hint } = await drawWorkflow(path, 'mermaid').then(
    () => error,
    (other: unknown) => (other instanceof RaymondError ? other : error),
  );
  throw usage(`there is no workflow and no run \`${oneLine(wanted)}\`${meant}`, hint);
}
