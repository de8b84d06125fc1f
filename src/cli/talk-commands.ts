import { EXIT } from '../errors.ts';
import { type CommandSpec, JSON_FLAG } from './command.ts';
import { DATABASE_FLAGS } from './open-storage.ts';

/** The commands for people who talk with agents: questions, answers, and what they say by themselves. */
export const TALK_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'asks',
    alsoCalled: ['questions', 'inbox'],
    summary: 'list the questions that wait for a person, and how to answer each',
    flags: [JSON_FLAG, ...DATABASE_FLAGS],
    examples: ['raymond asks'],
    load: async () => (await import('./commands/asks.ts')).handleAsks,
  },
  {
    name: 'answer',
    alsoCalled: ['reply'],
    args: '[RUN] [ASK] [TEXT]',
    summary:
      'answer a question of a run, whether it is running or not; the question may be left out if there is only one',
    flags: [
      ['--text-file <file>', 'the answer is the text of this file; TEXT may also be - for stdin'],
      ['--upload <name=path>', 'hand over a file under this name; may be repeated', 'repeatable'],
      ['--resume', 'continue with the run, unless a process drives it'],
      ...DATABASE_FLAGS,
    ],
    examples: ['raymond answer last "Yes, today"', 'raymond answer last main-3 - < answer.txt'],
    exits: [
      [EXIT.completed, 'answered; with --resume, as for a run'],
      [EXIT.usage, 'wrong usage, or a question that is over'],
    ],
    load: async () => (await import('./commands/answer.ts')).handleAnswer,
  },
  {
    name: 'say',
    alsoCalled: ['tell', 'message', 'steer'],
    args: '[RUN] [AGENT] [TEXT]',
    summary:
      'say something to an agent while it works: in its running turn, or before its next prompt; the agent may be left out if there is only one',
    flags: [JSON_FLAG, ...DATABASE_FLAGS],
    examples: ['raymond say last "Leave the tests alone"', 'raymond say last main_worker2 - < note.txt'],
    exits: [
      [EXIT.completed, 'said: it is kept until the agent hears it'],
      [EXIT.usage, 'wrong usage, or nobody can hear it any more'],
    ],
    load: async () => (await import('./commands/say.ts')).handleSay,
  },
  {
    name: 'interrupt',
    alsoCalled: ['redirect'],
    args: '[RUN] [AGENT] [TEXT]',
    summary:
      'end the running turn of an agent, which continues with the text in the same conversation; without a text it asks how to continue',
    flags: DATABASE_FLAGS,
    examples: ['raymond interrupt last "Forget the tests, fix the build first"', 'raymond interrupt last main_worker2'],
    exits: [
      [EXIT.completed, 'interrupted'],
      [EXIT.usage, 'wrong usage, or no turn can be interrupted'],
    ],
    load: async () => (await import('./commands/interrupt.ts')).handleInterrupt,
  },
];
