import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Platform } from '../../core/state-names.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { sanitizeLine } from '../../events/sanitize.ts';
import { type Drawing, drawRun, drawWorkflow, GRAPH_FORMATS, type GraphFormat } from '../../runtime/draw-graph.ts';
import type { CommandHandler, ParsedOptions } from '../command.ts';
import { detectGraphFormat, refuseStateFile, writeGraphFile } from '../graph-file.ts';
import { getChoiceOption, getTextOption } from '../parsed-options.ts';
import { usageError } from '../usage-error.ts';
import { requireWorkflowHere } from '../workflow-in-folder.ts';

/** `raymond graph [WORKFLOW]`, `raymond graph RUN`: a picture of a workflow, or of a run over it. */
export const handleGraph: CommandHandler = async ([target], options, { cwd, out, err }) => {
  const output = getTextOption(options, 'output');
  const format =
    getChoiceOption(options, 'format', GRAPH_FORMATS) ??
    (output === undefined ? 'mermaid' : detectGraphFormat(output, ', or give --format'));
  if (output !== undefined) refuseStateFile(resolve(cwd, output), '--output');
  const { text, warning } = await drawTarget(target, format, options, cwd);
  if (warning !== null) err(`warning: ${sanitizeLine(warning)}\n`);
  if (output === undefined) out(text);
  else {
    writeGraphFile(resolve(cwd, output), text, '--output');
    err(`${sanitizeLine(output)} is written.\n`);
  }
  return EXIT.completed;
};

/** What exists is a workflow; what does not may be a run. */
async function drawTarget(
  target: string | undefined,
  format: GraphFormat,
  options: ParsedOptions,
  cwd: string,
): Promise<Drawing> {
  const run = getTextOption(options, 'run');
  if (run !== undefined) {
    if (target !== undefined)
      throw usageError(`draw \`${sanitizeLine(target)}\` or the run \`${sanitizeLine(run)}\`, not both`);
    return drawRun(run, format, cwd);
  }
  const platform = getChoiceOption(options, 'platform', PLATFORMS);
  const path = resolve(
    cwd,
    target ?? requireWorkflowHere(cwd, platform, 'Name a folder, a .zip, a state file or a run.'),
  );
  if (target !== undefined && target !== '' && !existsSync(path))
    return drawRun(target, format, cwd).catch((error) => refuseUnknownTarget(error, target, path));
  return drawWorkflow(path, format, { cwd, ...(platform !== undefined && { platform }) });
}

const PLATFORMS: readonly Platform[] = ['unix', 'windows'];

const UNKNOWN_RUN = 'no such run: ';

/** Who names neither a workflow nor a run may have meant either. */
async function refuseUnknownTarget(error: unknown, target: string, path: string): Promise<never> {
  if (!(error instanceof RaymondError) || !error.message.startsWith(UNKNOWN_RUN)) throw error;
  const suggestion = error.message.slice(UNKNOWN_RUN.length + target.length);
  const { hint } = await drawWorkflow(path, 'mermaid').then(
    () => error,
    (other: unknown) => (other instanceof RaymondError ? other : error),
  );
  throw usageError(`there is no workflow and no run \`${sanitizeLine(target)}\`${suggestion}`, hint);
}
