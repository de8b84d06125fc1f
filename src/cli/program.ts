import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { editDistance, nearest } from '../core/nearest.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { resolvePackageFile } from '../package-files.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { CommandHandler, CommandSpec } from './command.ts';
import { COMMAND_TABLE } from './command-table.ts';
import { HelpLayout, INTRODUCTION, renderCommandHelpFooter, renderHelpFooter } from './help.ts';
import { SEE_HELP_HINT, usageError } from './usage-error.ts';

/** Runs the whole command: arguments in, exit code out. Errors that the user can correct are reported here only. */
export async function runCli(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await createProgram(terminal)(argv);
  } catch (error) {
    if (error instanceof RaymondError) {
      terminal.err(`raymond: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
      return error.exitCode;
    }
    terminal.err(
      `raymond: this is a mistake in Raymond itself, not yours.\n${formatStackTrace(error)}\n${BUG_REPORT_REQUEST}\n`,
    );
    return EXIT.bug;
  }
}

const formatStackTrace = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

const BUG_REPORT_REQUEST =
  'Please report it with the lines above. What was saved of a run is safe: `raymond list` shows it, `raymond resume` goes on.';

/** The command line in front of a terminal: give it words, it gives back an exit code. */
export function createProgram(
  terminal: Terminal,
  runCommand: (entry: CommandSpec, ...call: HandlerArgs) => Promise<number> = async (entry, ...call) =>
    (await entry.load())(...call, terminal),
): (argv: readonly string[]) => Promise<number> {
  let code: number = EXIT.completed;
  const layout = new HelpLayout(Math.min(terminal.screen?.size().columns ?? 100, 120));
  const program = new Command('raymond')
    .usage('WORKFLOW [options]\n       raymond COMMAND [options]')
    .description(INTRODUCTION)
    .version(readPackageVersion(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .addHelpText('after', () => renderHelpFooter(layout));
  for (const spec of COMMAND_TABLE) {
    const command = createCommand(spec, layout, async (...handlerArgs) => {
      code = await runCommand(spec, ...handlerArgs);
    });
    program.addCommand(command);
  }
  for (const each of [program, ...program.commands]) redirectOutput(each, terminal, layout);
  return async (argv) => {
    if (argv.length === 0) throw usageError('there is nothing to do', program.helpInformation());
    refuseMistypedCommand(argv[0] ?? '', terminal.cwd);
    const commandArgs = normalizeArgv(argv);
    try {
      await program.parseAsync([...commandArgs], { from: 'user' });
      return code;
    } catch (error) {
      if (error instanceof CommanderError && error.exitCode === 0) return EXIT.completed;
      throw addHelpHint(error, commandArgs[0] ?? '');
    }
  };
}

/** The words as the program takes them: what is no command is a workflow, and people ask for help in more than one way. */
function normalizeArgv(argv: readonly string[]): readonly string[] {
  const [first = '', ...rest] = argv;
  if (first === 'help') return rest.length === 0 ? ['--help'] : [...rest.slice(0, 1), '--help'];
  if (first === '-v') return ['--version'];
  return COMMAND_NAMES.includes(first) || PROGRAM_FLAGS.includes(first) ? argv : ['run', ...argv];
}

const PROGRAM_FLAGS = ['-h', '--help', '-V', '--version'];

/** An error of whoever wrote the words, with where to read how to write them. */
function addHelpHint(error: unknown, command: string): unknown {
  const hint = `See raymond ${command} --help.`;
  if (error instanceof CommanderError) {
    return usageError(error.message.replace(/^error: /, '').replace(/\n\(Did/, ' (did'), hint);
  }
  return error instanceof RaymondError && error.hint === SEE_HELP_HINT ? usageError(error.message, hint) : error;
}

/** Who mistypes a command seems to name a workflow. */
function refuseMistypedCommand(word: string, cwd: string): void {
  if (/^-|[/\\]/.test(word) || COMMAND_NAMES.includes(word) || word === 'help') return;
  const suggestions = findSimilarCommands(word).map((name) => `\`raymond ${name}\``);
  if (suggestions.length === 0 || existsSync(resolve(cwd, word))) return;
  throw usageError(`there is no command and no workflow \`${word}\``, `Did you mean ${suggestions.join(' or ')}?`);
}

type HandlerArgs = Parameters<CommandHandler> extends [...infer Given, Terminal] ? Given : never;

function createCommand(spec: CommandSpec, layout: HelpLayout, action: (...handlerArgs: HandlerArgs) => Promise<void>) {
  const { name, aliases = [], args, summary, flags } = spec;
  const command = new Command(name)
    .aliases([...aliases])
    .description(summary)
    .helpOption('-h, --help', 'show this help');
  if (args !== undefined) command.arguments(args);
  for (const [form, purpose, repeatable] of flags) {
    if (repeatable === undefined) command.option(form, purpose);
    else command.option(form, purpose, (word: string, previous: readonly string[] = []) => [...previous, word]);
  }
  return command
    .allowExcessArguments(true)
    .addHelpText('after', () => renderCommandHelpFooter(spec, layout))
    .action(() => {
      refuseExtraArgument(name, command);
      return action(command.args, command.opts());
    });
}

/** A word too many is usually one that lacks its quotes or its option. */
function refuseExtraArgument(name: string, { args, registeredArguments: declared }: Command): void {
  const extra = args[declared.length];
  if (extra === undefined || declared.at(-1)?.variadic) return;
  const argumentName = declared[0]?.name().toLowerCase();
  const allowed = argumentName === undefined ? `${name} takes no further words` : `one ${argumentName} at a time`;
  throw usageError(`${allowed}: \`${extra}\` is one too many`);
}

/** Commander writes and leaves on its own; here it writes to the terminal, and its errors are ours to tell. */
function redirectOutput(command: Command, { out }: Terminal, layout: HelpLayout): void {
  command.exitOverride().configureOutput({ writeOut: out, writeErr: () => {} });
  command.createHelp = () => layout;
}

/** Every word that is a command. */
const COMMAND_NAMES: readonly string[] = COMMAND_TABLE.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

/** The commands that a mistyped or unfinished word may stand for: all that are equally near, each by one name. */
function findSimilarCommands(word: string): readonly string[] {
  const typed = word.toLowerCase();
  return COMMAND_TABLE.flatMap(({ name, aliases = [] }) => {
    const names = [name, ...aliases];
    return names.find((each) => isSimilar(typed, each)) ?? [];
  });
}

function isSimilar(word: string, name: string): boolean {
  if (word.length >= MIN_PREFIX_LETTERS && name.startsWith(word)) return true;
  const best = nearest(word, COMMAND_NAMES);
  return best !== undefined && editDistance(word, name) === editDistance(word, best);
}

/** With fewer, too many words begin alike. */
const MIN_PREFIX_LETTERS = 3;

/** The version of this package. */
function readPackageVersion(): string {
  return String((JSON.parse(readFileSync(resolvePackageFile('package.json'), 'utf8')) as { version: unknown }).version);
}
