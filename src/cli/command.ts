import { readFileSync } from 'node:fs';
import { readConfig } from '../config/config.ts';
import type { Event } from '../core/event.ts';
import { EXIT, RaymondError } from '../errors.ts';
import {
  configFile,
  documentOf,
  exitCodeOf,
  lineOf,
  type Running,
  recordedEvents,
  resumeRun,
  runWorkflow,
} from '../raymond.ts';
import { HELP } from './help.ts';
import { optionsOf, readWords, usage, type Words } from './words.ts';

/** What the command needs of the process it runs in. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Calls back at each Ctrl-C, until it is told to stop listening. */
  readonly onInterrupt: (act: () => void) => () => void;
}

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

async function obey(argv: readonly string[], terminal: Terminal): Promise<number> {
  const { values: words, positionals } = readWords(argv);
  if (words.help) {
    terminal.out(HELP);
    return EXIT.completed;
  }
  if (words.version) {
    terminal.out(`${version()}\n`);
    return EXIT.completed;
  }
  const { verb, object } = sentenceOf(words, positionals);
  if (words['dangerously-skip-permissions']) {
    terminal.err(
      'warning: Claude Code may do anything without asking. Use this only with workflows you trust, in a place you can lose.\n',
    );
  }
  const observe = (event: Event): void => tell(event, words, terminal);
  const options = optionsOf(words);
  const running = await (verb === 'run'
    ? runWorkflow(object, {
        options: { ...readConfig(configFile()), ...options },
        observe,
        ...(words.input !== undefined && { input: words.input }),
        ...(words['run-id'] !== undefined && { runId: words['run-id'] }),
      })
    : resumeRun(object, { options, observe, retry: words.retry ?? false, takeOver: words['take-over'] ?? false }));
  return attend(running, words, terminal);
}

/** Waits for a run to end; a first Ctrl-C lets turns finish, a second ends them. */
async function attend(running: Running, words: Words, { out, err, onInterrupt }: Terminal): Promise<number> {
  let interrupts = 0;
  const stopListening = onInterrupt(() => {
    interrupts += 1;
    if (interrupts === 1) {
      err('stopping: turns under way come to their end; press Ctrl-C again to end them now\n');
      running.stop('interrupted');
    } else {
      err('ending the turns under way\n');
      running.kill();
    }
  });
  try {
    const run = await running.finished;
    if (words.json) out(`${JSON.stringify(documentOf(run, await recordedEvents(run.id)))}\n`);
    else if (!words.events) for (const { phase } of run.agents) if (phase.kind === 'ended') out(`${phase.result}\n`);
    const code = exitCodeOf(run);
    if (code !== EXIT.completed)
      err(`To go on: raymond resume ${run.id}${run.status === 'failed' ? ' --retry' : ''}\n`);
    return code;
  } finally {
    stopListening();
  }
}

function sentenceOf(words: Words, positionals: readonly string[]): { verb: 'run' | 'resume'; object: string } {
  const [first, ...rest] = positionals;
  const named = first === 'run' || first === 'start' || first === 'resume' ? first : undefined;
  const [object = words.resume, extra] = named === undefined ? positionals : rest;
  const verb = named === 'resume' || words.resume !== undefined ? 'resume' : 'run';
  if (object === undefined) throw usage(verb === 'resume' ? 'which run is to go on?' : 'there is no workflow to run');
  if (extra !== undefined)
    throw usage(`one ${verb === 'run' ? 'workflow' : 'run'} at a time: \`${extra}\` is one too many`);
  return { verb, object };
}

function tell(event: Event, words: Words, { out, err }: Terminal): void {
  if (words.events) out(`${JSON.stringify(event)}\n`);
  const line = lineOf(event);
  if (line !== null && !words.quiet) err(`${line}\n`);
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return String((JSON.parse(readFileSync(file, 'utf8')) as { version: unknown }).version);
}
