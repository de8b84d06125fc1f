import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT, RaymondError } from '../../errors.ts';
import { sanitizeLine } from '../../events/sanitize.ts';
import { type Drawing, drawRun, drawWorkflow, GRAPH_FORMATS, type GraphFormat } from '../../runtime/draw-graph.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { detectGraphFormat, refuseStateFile, writeGraphFile } from '../graph-file.ts';
import { getChoiceOption, getPlatformOption, getTextOption, requireWorkflowHere } from '../parsed-options.ts';

/** `raymond graph [WORKFLOW]`, `raymond graph RUN`: draws a workflow, or a run over its workflow. */
export const handleGraph: CommandHandler = async ([target], options, { cwd, env, out, err }) => {
  const output = getTextOption(options, 'output');
  const format =
    getChoiceOption(options, 'format', GRAPH_FORMATS) ??
    (output === undefined ? 'mermaid' : detectGraphFormat(output, ', or give --format'));
  if (output !== undefined) refuseStateFile(resolve(cwd, output), '--output');
  const { text, warning } = await drawTarget(target, format, options, { cwd, env });
  if (warning !== null) err(`warning: ${sanitizeLine(warning)}\n`);
  if (output === undefined) out(text);
  else {
    writeGraphFile(resolve(cwd, output), text, '--output');
    err(`Wrote ${sanitizeLine(output)}\n`);
  }
  return EXIT.completed;
};

/** Draws the target: a workflow if there is such a path, otherwise a run. */
async function drawTarget(
  target: string | undefined,
  format: GraphFormat,
  options: ParsedOptions,
  { cwd, env }: Pick<Terminal, 'cwd' | 'env'>,
): Promise<Drawing> {
  const run = getTextOption(options, 'run');
  if (run !== undefined) {
    if (target !== undefined)
      throw usageError(`give --run ${sanitizeLine(run)} or the workflow \`${sanitizeLine(target)}\`, not both`);
    return drawRun(run, format, cwd);
  }
  const platform = getPlatformOption(options);
  const path = resolve(
    cwd,
    target ?? requireWorkflowHere(cwd, platform, 'Name a folder, a .zip, a state file or a run.'),
  );
  if (target !== undefined && target !== '' && !existsSync(path))
    return drawRun(target, format, cwd).catch((error) => refuseUnknownTarget(error, target, path));
  return drawWorkflow(path, format, { cwd, env, ...(platform !== undefined && { platform }) });
}

const UNKNOWN_RUN = 'no such run: ';

/** Suggests similar workflows and runs for a name that is neither. */
async function refuseUnknownTarget(error: unknown, target: string, path: string): Promise<never> {
  if (!(error instanceof RaymondError) || !error.message.startsWith(UNKNOWN_RUN)) throw error;
  const suggestion = error.message.slice(UNKNOWN_RUN.length + target.length);
  const { hint } = await drawWorkflow(path, 'mermaid').then(
    () => error,
    (other: unknown) => (other instanceof RaymondError ? other : error),
  );
  throw usageError(`there is no workflow or run \`${sanitizeLine(target)}\`${suggestion}`, hint);
}
