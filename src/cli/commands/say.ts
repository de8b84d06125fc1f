import { createSayDocument, type SayOutcome, sendMessage } from '../../app/say.ts';
import { EXIT } from '../../errors.ts';
import { isPrompt } from '../../language/state-names.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { readTextArgument } from '../text-argument.ts';

/** `raymond say RUN [AGENT] TEXT|-`: says something to an agent that is at work. */
export const handleSay: CommandHandler = async ([run, second, third], options, terminal) => {
  if (run === undefined || second === undefined)
    throw usageError('there is nothing to say', 'raymond say RUN [AGENT] TEXT; - reads the text from stdin.');
  const [agent, written] = third === undefined ? [null, second] : [second, third];
  const text = await readTextArgument(written, terminal);
  const outcome = await withStorage(findDatabaseAddress(options, terminal), terminal, ({ storage }) =>
    sendMessage(run, { storage, env: terminal.env, agent, text }),
  );
  if (options.json === true) terminal.out(`${JSON.stringify(createSayDocument(outcome), null, 2)}\n`);
  else terminal.err(`${describeOutcome(outcome)}\n`);
  return EXIT.completed;
};

function describeOutcome({ run, agent, fate }: SayOutcome): string {
  const { id, state, evaluation } = agent;
  switch (fate) {
    case 'turn':
      return `${id} of ${run} hears it in its running turn (${state}).`;
    case 'prompt':
      return `It waits for the next prompt of ${id} of ${run}, and is put before it: ${describeObstacle(agent)}.`;
    case 'resume':
      return `No process drives the run. ${id} hears it when the run continues: raymond resume ${run}`;
    case 'unknown':
      return `It is kept for ${id}${evaluation === null ? '' : ` in ${state}`}, but the process of ${run} does not respond.`;
  }
}

/** Why the agent could not be reached at once. */
function describeObstacle({ id, state, phase, evaluation }: SayOutcome['agent']): string {
  switch (phase.kind) {
    case 'running':
      if (evaluation !== null) return `${evaluation.file} judges its answer`;
      return isPrompt(state) ? `its turn in ${state} cannot be reached while it runs` : `${state} is a script`;
    case 'asking':
      return `${id} waits for an answer to ${phase.ask}`;
    case 'parked':
      return `${id} waits for the word of a person on a tool`;
    case 'sleeping':
      return `${id} sleeps`;
    case 'joining':
      return `${id} waits for its workers`;
    case 'failed':
    case 'limited':
    case 'paused':
    case 'withheld':
      return `${id} does not continue by itself`;
    default:
      return `no turn of ${id} was running`;
  }
}
