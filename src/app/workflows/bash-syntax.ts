import { parseScript } from '../../bash/parse.ts';
import {
  positionInBody,
  type ScriptSyntaxError,
  type StateSource,
  type WorkflowSource,
  type WorkflowSourceFile,
} from '../../graph/workflow-source.ts';
import { execProgram } from '../../process/exec-program.ts';
import { mapConcurrently } from '../../workflow/workflow-files.ts';

const MAX_CONCURRENT = 4;
const TIMEOUT_MS = 5_000;

/** Lets bash check the scripts that our own parser cannot read, without running anything. */
export async function addBashSyntaxErrors(source: WorkflowSource): Promise<WorkflowSource> {
  if (!source.files.some(needsBashCheck)) return source;
  const files = await mapConcurrently(source.files, MAX_CONCURRENT, async (file) =>
    needsBashCheck(file) ? { ...file, syntaxError: await findSyntaxError(file) } : file,
  );
  return { ...source, files };
}

/** Scripts with CRs have a finding of their own: bash reports nothing but these. */
const needsBashCheck = (file: WorkflowSourceFile): file is StateSource =>
  file.kind === 'state' &&
  file.file.endsWith('.sh') &&
  !file.state.text.includes('\r') &&
  parseScript(file.state.text) === undefined;

async function findSyntaxError({ state, origin }: StateSource): Promise<ScriptSyntaxError | null> {
  const env = { LC_ALL: 'C' };
  const { stderr, exitCode } = await execProgram('/bin/bash', ['-O', 'extglob', '-n'], {
    cwd: '/',
    env,
    timeoutMs: TIMEOUT_MS,
    stdin: state.text,
  });
  const [, line, message] = /line (\d+): (?!warning)(.*)/.exec(stderr) ?? [];
  if (exitCode === 0 || line === undefined || message === undefined) return null;
  const at = { line: Number(line), column: 1 };
  return { at: origin === undefined ? at : positionInBody(origin, at), message };
}
