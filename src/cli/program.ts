import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { nearest } from '../core/nearest.ts';
import { EXIT } from '../errors.ts';
import { CATALOGUE } from './catalogue.ts';
import type { Carry, Entry } from './entry.ts';
import { EXIT_CODES, INTRODUCTION } from './help.ts';
import type { Terminal } from './terminal.ts';
import { usage } from './usage.ts';
import { version } from './version.ts';

/** The command line in front of a terminal: give it words, it gives back an exit code. */
export function programFor(
  terminal: Terminal,
  carryOut: (entry: Entry, ...call: Call) => Promise<number> = async (entry, ...call) =>
    (await entry.load())(...call, terminal),
): (argv: readonly string[]) => Promise<number> {
  let code: number = EXIT.completed;
  const program = new Command('raymond')
    .usage('WORKFLOW [options]\n       raymond COMMAND [options]')
    .description(INTRODUCTION)
    .version(version(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .addHelpText('after', EXIT_CODES);
  for (const entry of CATALOGUE) {
    const command = commandOf(entry, async (...call) => {
      code = await carryOut(entry, ...call);
    });
    program.addCommand(command, { isDefault: entry.name === 'run' });
  }
  for (const each of [program, ...program.commands]) speakThrough(each, terminal);
  return async (argv) => {
    try {
      if (argv.length === 0) throw usage('there is nothing to do', program.helpInformation());
      refuseNearMiss(argv[0] ?? '', terminal.cwd);
      await program.parseAsync([...argv], { from: 'user' });
      return code;
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      if (error.exitCode === 0) return EXIT.completed;
      throw usage(error.message.replace(/^error: /, '').replace(/\n\(Did/, ' (did'));
    }
  };
}

/** Who mistypes a command seems to name a workflow. */
function refuseNearMiss(word: string, cwd: string): void {
  const names = CATALOGUE.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const meant = word.startsWith('-') || names.includes(word) ? undefined : nearest(word, names);
  if (meant === undefined || existsSync(resolve(cwd, word))) return;
  throw usage(`there is no command and no workflow \`${word}\``, `Did you mean \`raymond ${meant}\`?`);
}

type Call = Parameters<Carry> extends [...infer Given, Terminal] ? Given : never;

function commandOf(
  { name, aliases = [], args, summary, flags, examples }: Entry,
  act: (...call: Call) => Promise<void>,
) {
  const command = new Command(name)
    .aliases([...aliases])
    .description(summary)
    .helpOption('-h, --help', 'show this help');
  if (args !== undefined) command.arguments(args);
  for (const [form, purpose, repeatable] of flags) {
    if (repeatable === undefined) command.option(form, purpose);
    else command.option(form, purpose, (word: string, before: readonly string[] = []) => [...before, word]);
  }
  return command
    .allowExcessArguments(true)
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}\n`).join('')}`)
    .action(() => {
      refuseExcess(name, command);
      return act(command.args, command.opts());
    });
}

/** A word too many is usually one that lacks its quotes or its option. */
function refuseExcess(name: string, { args, registeredArguments: known }: Command): void {
  const extra = args[known.length];
  if (extra === undefined || known.at(-1)?.variadic) return;
  const what = known[0]?.name().toLowerCase();
  const rule = what === undefined ? `${name} takes no further words` : `one ${what} at a time`;
  throw usage(`${rule}: \`${extra}\` is one too many`);
}

/** Commander writes and leaves on its own; here it writes to the terminal, and its errors are ours to tell. */
function speakThrough(command: Command, { out, screen }: Terminal): void {
  const columns = screen?.size().columns ?? 100;
  command
    .exitOverride()
    .configureOutput({ writeOut: out, writeErr: () => {}, getOutHelpWidth: () => Math.min(columns, 120) });
}
