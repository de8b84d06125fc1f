import { readConfig } from '../config/config.ts';
import type { Event } from '../core/event.ts';
import type { Agent, Options, Run } from '../core/run.ts';
import { EXIT } from '../errors.ts';
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
import type { Terminal } from './terminal.ts';
import { optionsOf, usage, type Words } from './words.ts';

/** Runs a workflow or goes on with a run, as the words say. */
export async function run(words: Words, positionals: readonly string[], terminal: Terminal): Promise<number> {
  const { verb, object } = sentenceOf(words, positionals);
  const told = new Set<string>();
  const observe = (event: Event): void => {
    if (!words.quiet && (event.kind === 'agent_paused' || event.kind === 'agent_failed')) told.add(event.agent);
    tell(event, words, terminal);
  };
  const options = optionsOf(words);
  const running = await (verb === 'run'
    ? runWorkflow(object, {
        options: withConfig(options),
        observe,
        ...(words.input !== undefined && { input: words.input }),
        ...(words['run-id'] !== undefined && { runId: words['run-id'] }),
      })
    : resumeRun(object, { options, observe, retry: words.retry ?? false, takeOver: words['take-over'] ?? false }));
  return attend(running, words, told, terminal);
}

/** Waits for a run to end; a first Ctrl-C lets turns finish, a second ends them. `told` are agents whose trouble is known. */
async function attend(
  running: Running,
  words: Words,
  told: ReadonlySet<string>,
  { out, err, onInterrupt }: Terminal,
): Promise<number> {
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
    if (code === EXIT.completed) return code;
    for (const agent of run.agents.filter(({ id }) => !told.has(id))) tellWhy(agent, err);
    if (words.quiet) err(`The run has ended: ${run.status}.\n`);
    err(`To go on: raymond resume ${run.id}${needs(run)}\n`);
    return code;
  } finally {
    stopListening();
  }
}

/** Why an agent does not go on, for whoever was not there when it was told. */
function tellWhy({ id, phase }: Agent, err: Terminal['err']): void {
  if (phase.kind === 'paused' || phase.kind === 'failed') err(`[${id}] ${phase.kind}: ${phase.message}\n`);
}

/** What a resume has to be given to get further. */
function needs(run: Run): string {
  if (run.stop?.kind === 'budget') return ' --budget USD';
  if (run.stop?.kind === 'iterations') return ' --max-iterations N';
  return run.agents.some(needsRetry) ? ' --retry' : '';
}

/** A plain resume would leave such an agent as it is. */
const needsRetry = ({ phase }: Agent): boolean =>
  phase.kind === 'failed' || (phase.kind === 'paused' && phase.why === 'interrupted');

const ONLY_RUN = ['input', 'run-id'] as const;
const ONLY_RESUME = ['retry', 'take-over'] as const;

function sentenceOf(words: Words, positionals: readonly string[]): { verb: 'run' | 'resume'; object: string } {
  const [first, ...rest] = positionals;
  if (words.json && words.events) throw usage('--json and --events both want stdout: choose one');
  const named = first === 'run' || first === 'start' || first === 'resume' ? first : undefined;
  const [object = words.resume, extra] = named === undefined ? positionals : rest;
  const verb = named === 'resume' || words.resume !== undefined ? 'resume' : 'run';
  for (const word of verb === 'run' ? ONLY_RESUME : ONLY_RUN) {
    if (words[word] !== undefined) throw usage(`--${word} means nothing to ${verb}`);
  }
  if (words.resume !== undefined && object !== words.resume)
    throw usage(`--resume ${words.resume} or ${object}: choose one`);
  if (object === undefined) throw usage(verb === 'resume' ? 'which run is to go on?' : 'there is no workflow to run');
  if (extra !== undefined)
    throw usage(`one ${verb === 'run' ? 'workflow' : 'run'} at a time: \`${extra}\` is one too many`);
  return { verb, object };
}

/** What the config file says, as far as the command line does not say otherwise. */
function withConfig(options: Partial<Options>): Partial<Options> {
  const config = readConfig(configFile());
  return { ...config, ...options, variables: { ...config.variables, ...options.variables } };
}

const UNGUARDED =
  'warning: Claude Code may do anything without asking. Use this only with workflows you trust, in a place you can lose.\n';

function tell(event: Event, words: Words, { out, err }: Terminal): void {
  if ((event.kind === 'run_started' || event.kind === 'run_resumed') && event.options.skipPermissions) err(UNGUARDED);
  if (words.events) out(`${JSON.stringify(event)}\n`);
  const line = lineOf(event);
  if (line !== null && !words.quiet) err(`${line}\n`);
}
