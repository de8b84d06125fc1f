import { interruptTurn } from '../../app/say.ts';
import { EXIT } from '../../errors.ts';
import { askIdOf } from '../../language/ask.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { readTextArgument } from '../parsed-options.ts';

/** `raymond interrupt RUN [AGENT] [TEXT|-]`: ends the running turn of an agent, which continues with the text, or asks. */
export const handleInterrupt: CommandHandler = async ([run, second, third], options, terminal) => {
  if (run === undefined) throw usageError('there is no run to interrupt', 'raymond interrupt RUN [AGENT] [TEXT]');
  const [agent, written] = third === undefined ? [null, second] : [second ?? null, third];
  const text = written === undefined ? null : await readTextArgument(written, terminal);
  const outcome = await withStorage(findDatabaseAddress(options, terminal), terminal, ({ storage }) =>
    interruptTurn(run, { storage, env: terminal.env, agent, text }),
  );
  const { id, state } = outcome.agent;
  if (!outcome.isTakenUp) {
    terminal.err(`The interruption of ${id} is kept, but the process of ${outcome.run} does not respond.\n`);
    return EXIT.completed;
  }
  const isAsking = text === null || text === id;
  const next = isAsking
    ? `asks how to continue: raymond answer ${outcome.run} ${askIdOf(outcome.agent)} "TEXT"`
    : 'continues with your words, in the same conversation.';
  terminal.err(`${id} of ${outcome.run} is interrupted in ${state} and ${next}\n`);
  return EXIT.completed;
};
