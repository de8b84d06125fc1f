import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Drawing, drawRun, drawWorkflow, type GraphFormat } from '../../app/workflows/draw-graph.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import { GRAPH_FORMATS } from '../choices.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { detectGraphFormat, refuseStateFile, writeGraphFile } from '../graph-file.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { getChoiceOption, getPlatformOption, getTextOption, requireWorkflowHere } from '../parsed-options.ts';

/** `raymond graph [WORKFLOW]`, `raymond graph RUN`: draws a workflow, or a run over its workflow. */
export const handleGraph: CommandHandler = async ([target], options, terminal) => {
  const { cwd, out, err } = terminal;
  const requested = getTextOption(options, 'output');
  const format = chooseFormat(options, requested);
  if (requested !== undefined) refuseStateFile(resolve(cwd, requested), '--output');
  const { name, text, warning } = await drawTarget(target, format, options, terminal);
  if (warning !== null) err(`warning: ${sanitizeLine(warning)}\n`);
  const output = requested ?? (options.html === true ? `${name.replace(/[^\w.-]+/g, '-')}.graph.html` : undefined);
  if (output === undefined) out(text);
  else {
    writeGraphFile(resolve(cwd, output), text, '--output');
    err(`Wrote ${sanitizeLine(output)}\n`);
  }
  return EXIT.completed;
};

/** The format that was asked for, by an option or by the name of the file. */
function chooseFormat(options: ParsedOptions, output: string | undefined): GraphFormat {
  const format = getChoiceOption(options, 'format', GRAPH_FORMATS);
  if (options.html === true) {
    if (format !== undefined && format !== 'html')
      throw usageError(`--html and --format ${format} contradict each other`);
    return 'html';
  }
  return format ?? (output === undefined ? 'mermaid' : detectGraphFormat(output, ', or give --format'));
}

/** Draws the target: a workflow if there is such a path, otherwise a run. */
async function drawTarget(
  target: string | undefined,
  format: GraphFormat,
  options: ParsedOptions,
  terminal: Terminal,
): Promise<Drawing> {
  const { cwd, env } = terminal;
  const drawFound = (found: string): Promise<Drawing> =>
    withStorage(findDatabaseAddress(options, terminal), terminal, ({ storage }) => drawRun(found, format, storage));
  const run = getTextOption(options, 'run');
  if (run !== undefined) {
    if (target !== undefined)
      throw usageError(`give --run ${sanitizeLine(run)} or the workflow \`${sanitizeLine(target)}\`, not both`);
    return drawFound(run);
  }
  const platform = getPlatformOption(options);
  const path = resolve(
    cwd,
    target ?? requireWorkflowHere(cwd, platform, 'Name a folder, a .zip, a .yaml, a state file or a run.'),
  );
  const draw = (): Promise<Drawing> =>
    drawWorkflow(path, format, {
      cwd,
      env,
      root: getTextOption(options, 'root') ?? null,
      ...(platform !== undefined && { platform }),
    });
  if (target !== undefined && target !== '' && !existsSync(path))
    return drawFound(target).catch((error) => drawStateOrRefuse(error, target, draw));
  return draw();
}

const UNKNOWN_RUN = 'no such run: ';

/** Draws a workflow from a state that is no file, such as `flow.yaml/PLAN`; suggests similar names for what is nothing at all. */
async function drawStateOrRefuse(error: unknown, target: string, draw: () => Promise<Drawing>): Promise<Drawing> {
  if (!(error instanceof RaymondError) || !error.message.startsWith(UNKNOWN_RUN)) throw error;
  const suggestion = error.message.slice(UNKNOWN_RUN.length + target.length);
  const drawn = await draw().catch((other: unknown) => (other instanceof RaymondError ? other : error));
  if (!(drawn instanceof RaymondError)) return drawn;
  const { hint } = drawn;
  throw usageError(`there is no workflow or run \`${sanitizeLine(target)}\`${suggestion}`, hint);
}
