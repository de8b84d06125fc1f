import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Platform } from '../core/names.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { openWorkflow } from '../raymond.ts';

/** What the command needs of the process it runs in. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly platform: Platform;
}

const HELP = `Raymond runs Claude Code through workflows made of markdown prompts and shell scripts.

Usage: raymond WORKFLOW      a state file, a folder or a zip

This version reads a workflow and checks all of it; it does not run it yet.

Options:
  -h, --help       show this help
  -V, --version    show the version

Examples:
  raymond workflows/coding            check a folder
  raymond workflows/coding/PLAN.md    check it, to be started in PLAN.md
  raymond coding.zip                  check a zip

Exit codes: 0 the workflow is sound, 64 wrong usage, 65 the workflow is invalid.
`;

/** The whole command: words in, exit code out. Errors that the user can mend are told here and nowhere else. */
export async function main(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await obey(argv, terminal);
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    terminal.err(`raymond: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
    return error.exitCode;
  }
}

async function obey(argv: readonly string[], { out, err, platform }: Terminal): Promise<number> {
  const { values, positionals } = readWords(argv);
  if (values.help) {
    out(HELP);
    return EXIT.completed;
  }
  if (values.version) {
    out(`${version()}\n`);
    return EXIT.completed;
  }
  const [path, second] = positionals;
  if (path === undefined) throw usage('there is no workflow to check');
  if (second !== undefined) throw usage(`one workflow at a time: \`${second}\` is one too many`);
  const workflow = await openWorkflow(path, platform);
  for (const { file, line, column, message } of workflow.findings)
    err(`warning: ${file}:${line}:${column}: ${message}\n`);
  out(`${workflow.name} is sound and starts in ${workflow.entry}\n`);
  return EXIT.completed;
}

function readWords(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'V' } },
    });
  } catch (cause) {
    throw usage(cause instanceof Error ? cause.message : String(cause));
  }
}

const usage = (message: string): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint: 'See raymond --help.' });

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return String((JSON.parse(readFileSync(file, 'utf8')) as { version: unknown }).version);
}
