import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { EXIT, RaymondError } from '../errors.ts';
import { readPackageVersion } from '../package-files.ts';
import { quoteShellArgument } from '../render/format.ts';
import { guardTerminal, type Terminal } from '../render/terminal/terminal.ts';
import { COMMAND_NAMES, normalizeArgv, refuseUnknownCommand, translateOriginalWords } from './argv.ts';
import {
  type CommandHandler,
  type CommandSpec,
  FOLDER_FLAG,
  type ParsedOptions,
  SEE_HELP_HINT,
  usageError,
} from './command.ts';
import { COMMAND_TABLE } from './command-table.ts';
import { HelpLayout, INTRODUCTION, renderCommandHelpFooter, renderHelpFooter } from './help.ts';

/** Runs the command line and returns the exit code. Only here errors that the user can correct are printed. */
export async function runCli(written: readonly string[], unguarded: Terminal): Promise<number> {
  const terminal = guardTerminal(unguarded);
  const argv = translateOriginalWords(written, COMMAND_NAMES);
  try {
    refuseUnknownCommand(argv, terminal.cwd);
    return await createProgram(terminal)(argv);
  } catch (error) {
    if (error instanceof RaymondError) {
      terminal.err(`raymond: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
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
  runCommand: (spec: CommandSpec, ...call: Parameters<CommandHandler>) => Promise<number> = loadAndRun,
): (argv: readonly string[]) => Promise<number> {
  return async (argv) => {
    let code: number = EXIT.completed;
    const commandArgs = normalizeArgv(argv);
    const layout = new HelpLayout(Math.min(terminal.screen?.size().columns ?? 100, 120));
    const program = new Command('raymond')
      .usage('WORKFLOW [options]\n       raymond COMMAND [options]')
      .description(INTRODUCTION)
      .version(readPackageVersion(), '-V, --version', 'show the version')
      .helpOption('-h, --help', 'show this help')
      .helpCommand(false)
      .addHelpText('after', () => renderHelpFooter(layout));
    for (const spec of findCommands(argv.length === 0 ? '' : commandArgs[0])) {
      const command = createCommand(spec, layout, async (args, { C: folders = [], ...options }) => {
        const cwd = resolve(terminal.cwd, ...(typeof folders === 'object' ? folders : []));
        refuseExtraArgument(spec, args, cwd);
        code = await runCommand(spec, args, options, { ...terminal, cwd });
      });
      program.addCommand(command);
    }
    for (const each of [program, ...program.commands]) redirectOutput(each, terminal, layout);
    if (argv.length === 0) throw usageError('name a workflow or a command', program.helpInformation());
    try {
      await program.parseAsync([...commandArgs], { from: 'user' });
      return code;
    } catch (error) {
      if (error instanceof CommanderError && error.exitCode === 0) return EXIT.completed;
      throw addHelpHint(error, commandArgs[0] ?? '');
    }
  };
}

/** The command of this name, which is all that is needed then; all commands if the word is none. */
function findCommands(word = ''): readonly CommandSpec[] {
  const named = COMMAND_TABLE.filter(({ name, aliases = [] }) => name === word || aliases.includes(word));
  return named.length > 0 ? named : COMMAND_TABLE;
}

/** Carries out a command. Its code is loaded only now: help and version need none of it. */
async function loadAndRun(spec: CommandSpec, ...call: Parameters<CommandHandler>): Promise<number> {
  const [, , { cwd, env, changeFolder }] = call;
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw usageError(`-C ${cwd} is not a folder`, 'Name a folder that exists.');
  changeFolder?.(cwd);
  if (!spec.anyOwner) (await import('../app/trust/foreign-folders.ts')).refuseForeignRaymondFolder(cwd, env);
  return (await spec.load())(...call);
}

/** Points from an error in the usage of a command to the help of that command. */
function addHelpHint(error: unknown, command: string): unknown {
  const hint = `See raymond ${command} --help.`;
  if (error instanceof CommanderError) {
    return usageError(error.message.replace(/^error: /, '').replace(/\n\(Did/, ' (did'), hint);
  }
  return error instanceof RaymondError && error.hint === SEE_HELP_HINT ? usageError(error.message, hint) : error;
}

function createCommand(
  spec: CommandSpec,
  layout: HelpLayout,
  action: (args: readonly string[], options: ParsedOptions) => Promise<void>,
): Command {
  const { name, aliases = [], args, summary, flags } = spec;
  const command = new Command(name)
    .aliases([...aliases])
    .description(summary)
    .helpOption('-h, --help', 'show this help');
  if (args !== undefined) command.arguments(args);
  for (const [form, purpose, repeatable] of [...flags, FOLDER_FLAG]) {
    if (repeatable === undefined) command.option(form, purpose);
    else command.option(form, purpose, (word: string, previous: readonly string[] = []) => [...previous, word]);
  }
  return command
    .allowExcessArguments(true)
    .addHelpText('after', () => renderCommandHelpFooter(spec, layout))
    .action(() => action(command.args, command.opts()));
}

/** Refuses a word too many: usually it lacks quotes or the option before it. */
function refuseExtraArgument({ name, args: declared = '' }: CommandSpec, args: readonly string[], cwd: string): void {
  const names = declared.toLowerCase().match(/\w+/g) ?? [];
  const [first = ''] = args;
  const extra = args[names.length];
  if (extra === undefined || declared.includes('...')) return;
  const allowed = ['no arguments', `one ${names[0]} at a time`][names.length] ?? `${names.length} arguments`;
  const isText = name === 'run' && !existsSync(resolve(cwd, extra));
  throw usageError(
    `${name} takes ${allowed}: \`${extra}\` is one too many`,
    isText
      ? `To give it to the first state as a text: raymond ${first} --input ${quoteShellArgument(args.slice(1).join(' '))}`
      : undefined,
  );
}

/** Makes commander write to the terminal and throw its errors, instead of printing them and exiting. */
function redirectOutput(command: Command, { out }: Terminal, layout: HelpLayout): void {
  command.exitOverride().configureOutput({ writeOut: (text) => out(text), writeErr: () => {} });
  command.createHelp = () => layout;
}
