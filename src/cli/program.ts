import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { editDistance, nearest } from '../core/nearest.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { sanitize } from '../events/sanitize.ts';
import { resolvePackageFile } from '../package-files.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type CommandHandler, type CommandSpec, SEE_HELP_HINT, usageError } from './command.ts';
import { COMMAND_TABLE } from './command-table.ts';
import { HelpLayout, INTRODUCTION, renderCommandHelpFooter, renderHelpFooter } from './help.ts';

/** Runs the command line and returns the exit code. Only here errors that the user can correct are printed. */
export async function runCli(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await createProgram(terminal)(argv);
  } catch (error) {
    if (error instanceof RaymondError) {
      // Messages quote names from files and folders that may be a stranger's.
      terminal.err(sanitize(`raymond: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`));
      return error.exitCode;
    }
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    terminal.err(`raymond: this is a bug in Raymond, not a mistake of yours.\n${stack}\n${BUG_REPORT_REQUEST}\n`);
    return EXIT.bug;
  }
}

const BUG_REPORT_REQUEST =
  'Please report it with the lines above. Saved runs are safe: `raymond list` shows them, `raymond resume` continues one.';

/** Creates the command line of a terminal: a function from its words to an exit code. */
export function createProgram(
  terminal: Terminal,
  runCommand: (spec: CommandSpec, ...call: HandlerArgs) => Promise<number> = async (spec, ...call) => {
    // Loaded only now: help and version need none of it.
    if (!spec.anyOwner)
      (await import('../runtime/foreign-folders.ts')).refuseForeignRaymondFolder(terminal.cwd, terminal.env);
    return (await spec.load())(...call, terminal);
  },
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

/** Puts `run` before a workflow, and spells the other ways to ask for help or the version as flags. */
function normalizeArgv(argv: readonly string[]): readonly string[] {
  const [first = '', ...rest] = argv;
  if (first === 'help') return rest.length === 0 ? ['--help'] : [...rest.slice(0, 1), '--help'];
  if (first === '-v') return ['--version'];
  return COMMAND_NAMES.includes(first) || PROGRAM_FLAGS.includes(first) ? argv : ['run', ...argv];
}

const PROGRAM_FLAGS = ['-h', '--help', '-V', '--version'];

/** Points from an error in the usage of a command to the help of that command. */
function addHelpHint(error: unknown, command: string): unknown {
  const hint = `See raymond ${command} --help.`;
  if (error instanceof CommanderError) {
    return usageError(error.message.replace(/^error: /, '').replace(/\n\(Did/, ' (did'), hint);
  }
  return error instanceof RaymondError && error.hint === SEE_HELP_HINT ? usageError(error.message, hint) : error;
}

/** Suggests a command if the first word is nearly one: it would be taken for a workflow. */
function refuseMistypedCommand(word: string, cwd: string): void {
  if (/^-|[/\\]/.test(word) || COMMAND_NAMES.includes(word) || word === 'help') return;
  const suggestions = findSimilarCommands(word).map((name) => `\`raymond ${name}\``);
  if (suggestions.length === 0 || existsSync(resolve(cwd, word))) return;
  throw usageError(`there is no command or workflow \`${word}\``, `Did you mean ${suggestions.join(' or ')}?`);
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

/** Refuses a word too many: usually it lacks quotes or the option before it. */
function refuseExtraArgument(name: string, { args, registeredArguments: declared }: Command): void {
  const extra = args[declared.length];
  if (extra === undefined || declared.at(-1)?.variadic) return;
  const argumentName = declared[0]?.name().toLowerCase();
  const allowed = argumentName === undefined ? 'no arguments' : `one ${argumentName} at a time`;
  throw usageError(`${name} takes ${allowed}: \`${extra}\` is one too many`);
}

/** Makes commander write to the terminal and throw its errors, instead of printing them and exiting. */
function redirectOutput(command: Command, { out }: Terminal, layout: HelpLayout): void {
  command.exitOverride().configureOutput({ writeOut: out, writeErr: () => {} });
  command.createHelp = () => layout;
}

const COMMAND_NAMES: readonly string[] = COMMAND_TABLE.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

/** The commands that a mistyped or unfinished word may stand for: all that are equally similar, by one name each. */
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

/** Shorter prefixes match too many commands. */
const MIN_PREFIX_LETTERS = 3;

function readPackageVersion(): string {
  return String((JSON.parse(readFileSync(resolvePackageFile('package.json'), 'utf8')) as { version: unknown }).version);
}
