import { readFileSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { answer } from '../../app/answer.ts';
import { listQuestions } from '../../app/questions.ts';
import { EXIT, errorCodeOf } from '../../errors.ts';
import { isPlainFileName } from '../../language/ask.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import type { RunStorage } from '../../storage/storage.ts';
import type { HandedFiles } from '../../wiring/handed-files.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { getRepeatedOption, getTextOption } from '../parsed-options.ts';
import { decodeInputText, readTextArgument } from '../text-argument.ts';
import { handleResume } from './resume.ts';

/** `raymond answer RUN [ASK] TEXT|-`: answers a question of a run; with --resume it continues with the run. */
export const handleAnswer: CommandHandler = async (args, options, terminal) => {
  const { cwd, env } = terminal;
  const address = findDatabaseAddress(options, terminal);
  const answered = await withStorage(address, terminal, async ({ storage }) => {
    const { run, ask, text } = await readAnswer(args, options, terminal, storage);
    return answer(run, { storage, env, ask, text, files: readUploads(options, cwd) });
  });
  const { uptake } = answered;
  terminal.err(`${answered.ask} of ${answered.run} is answered.\n`);
  if (uptake === 'driven')
    terminal.err('The process that drives the run has not taken it up yet: it is busy, or it was stopped.\n');
  if (uptake !== 'undriven') return EXIT.completed;
  const { resume, textFile: _textFile, upload: _upload, ...forResume } = options;
  if (resume === true) return handleResume([answered.run], forResume, terminal);
  terminal.err(`No process drives the run. To continue: raymond resume ${answered.run}\n`);
  return EXIT.completed;
};

const UPLOAD_HINT = 'Convert it, or hand it over with --upload.';

interface WrittenAnswer {
  readonly run: string;
  readonly ask: string | null;
  readonly text: string;
}

/** Reads the words of the command: with a file for the text, the second word is the question. */
async function readAnswer(
  [run, second, third]: readonly string[],
  options: ParsedOptions,
  terminal: Terminal,
  storage: RunStorage,
): Promise<WrittenAnswer> {
  if (run === undefined) throw usageError('there is no run to answer', 'raymond asks shows the questions that wait.');
  const file = getTextOption(options, 'textFile');
  if (file !== undefined) {
    if (third !== undefined) throw usageError('--text-file and a text exclude each other');
    return { run, ask: second ?? null, text: readTextFile(file, terminal.cwd) };
  }
  const [ask, text] = third === undefined ? [null, second] : [second ?? null, third];
  if (text === undefined) throw usageError('there is no answer', 'Write it after the run, or - to read it from stdin.');
  if (text === '-') return { run, ask, text: await readTextArgument(text, terminal, UPLOAD_HINT) };
  if (ask === null) await refuseForgottenText(text, storage);
  return { run, ask, text };
}

/** `answer RUN ASK` without a text is a slip, not an answer. */
async function refuseForgottenText(text: string, storage: RunStorage): Promise<void> {
  const isAsk = (await listQuestions(storage)).some(({ waiting }) => waiting.ask === text);
  if (isAsk) throw usageError(`${text} is a question: there is no answer`, 'Write the answer after it.');
}

function readTextFile(file: string, cwd: string): string {
  try {
    return decodeInputText(readFileSync(resolve(cwd, file)), file, UPLOAD_HINT);
  } catch (error) {
    if (errorCodeOf(error) === '') throw error;
    throw usageError(`--text-file ${file} cannot be read (${errorCodeOf(error)})`, 'Name a file that exists.');
  }
}

/** Reads `--upload NAME=PATH`, or a path alone for a file that keeps its name. */
function readUploads(options: ParsedOptions, cwd: string): HandedFiles {
  const uploads = getRepeatedOption(options, 'upload').map((written) => {
    const at = written.indexOf('=');
    const path = resolve(cwd, written.slice(at + 1));
    const name = at === -1 ? basename(path) : written.slice(0, at);
    if (!isPlainFileName(name))
      throw usageError(`--upload ${written}: \`${name}\` cannot be the name of a file`, 'Write --upload NAME=PATH.');
    if (!statSync(path, { throwIfNoEntry: false })?.isFile())
      throw usageError(`--upload ${written}: ${path} is not a file`, 'Name a file that exists.');
    return { name, path };
  });
  const repeated = uploads.find(({ name }, at) => uploads.findIndex((other) => other.name === name) !== at);
  if (repeated !== undefined) throw usageError(`--upload gives two files the name ${repeated.name}`);
  return uploads;
}
