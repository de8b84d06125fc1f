import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { EXIT, RaymondError } from '../errors.ts';
import { CATALOGUE } from './catalogue.ts';
import type { Carry, Entry } from './entry.ts';
import { endOfCommand, endOfHelp, INTRODUCTION } from './help.ts';
import { HelpLayout } from './help-layout.ts';
import { commandsNear, NAMES } from './near.ts';
import type { Terminal } from './terminal.ts';
import { SEE_HELP, usage } from './usage.ts';
import { version } from './version.ts';

/** The command line in front of a terminal: give it words, it gives back an exit code. */
export function programFor(
  terminal: Terminal,
  carryOut: (entry: Entry, ...call: Call) => Promise<number> = async (entry, ...call) =>
    (await entry.load())(...call, terminal),
): (argv: readonly string[]) => Promise<number> {
  let code: number = EXIT.completed;
  const layout = new HelpLayout(Math.min(terminal.screen?.size().columns ?? 100, 120));
  const program = new Command('raymond')
    .usage('WORKFLOW [options]\n       raymond COMMAND [options]')
    .description(INTRODUCTION)
    .version(version(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .addHelpText('after', () => endOfHelp(layout));
  for (const entry of CATALOGUE) {
    const command = commandOf(entry, layout, async (...call) => {
      code = await carryOut(entry, ...call);
    });
    program.addCommand(command);
  }
  for (const each of [program, ...program.commands]) speakThrough(each, terminal, layout);
  return async (argv) => {
    if (argv.length === 0) throw usage('there is nothing to do', program.helpInformation());
    refuseNearMiss(argv[0] ?? '', terminal.cwd);
    const words = asMeant(argv);
    try {
      await program.parseAsync([...words], { from: 'user' });
      return code;
    } catch (error) {
      if (error instanceof CommanderError && error.exitCode === 0) return EXIT.completed;
      throw withHelp(error, words[0] ?? '');
    }
  };
}

/** The words as the program takes them: what is no command is a workflow, and people ask for help in more than one way. */
function asMeant(argv: readonly string[]): readonly string[] {
  const [first = '', ...rest] = argv;
  if (first === 'help') return rest.length === 0 ? ['--help'] : [...rest.slice(0, 1), '--help'];
  if (first === '-v') return ['--version'];
  return NAMES.includes(first) || OF_THE_PROGRAM.includes(first) ? argv : ['run', ...argv];
}

const OF_THE_PROGRAM = ['-h', '--help', '-V', '--version'];

/** An error of whoever wrote the words, with where to read how to write them. */
function withHelp(error: unknown, command: string): unknown {
  const hint = `See raymond ${command} --help.`;
  if (error instanceof CommanderError) {
    return usage(error.message.replace(/^error: /, '').replace(/\n\(Did/, ' (did'), hint);
  }
  return error instanceof RaymondError && error.hint === SEE_HELP ? usage(error.message, hint) : error;
}

/** Who mistypes a command seems to name a workflow. */
function refuseNearMiss(word: string, cwd: string): void {
  if (/^-|[/\\]/.test(word) || NAMES.includes(word) || word === 'help') return;
  const meant = commandsNear(word).map((name) => `\`raymond ${name}\``);
  if (meant.length === 0 || existsSync(resolve(cwd, word))) return;
  throw usage(`there is no command and no workflow \`${word}\``, `Did you mean ${meant.join(' or ')}?`);
}

type Call = Parameters<Carry> extends [...infer Given, Terminal] ? Given : never;

function commandOf(entry: Entry, layout: HelpLayout, act: (...call: Call) => Promise<void>) {
  const { name, aliases = [], args, summary, flags } = entry;
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
    .addHelpText('after', () => endOfCommand(entry, layout))
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
function speakThrough(command: Command, { out }: Terminal, layout: HelpLayout): void {
  command.exitOverride().configureOutput({ writeOut: out, writeErr: () => {} });
  command.createHelp = () => layout;
}
