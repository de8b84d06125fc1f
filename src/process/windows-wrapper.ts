import { NEVER_RAN_STATUS } from './wrapper.ts';

/** A request to the wrapper: a command with the files of its turn. It gets it as JSON on its stdin. */
export interface WrapperRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly started: string;
  /** The number of its pipe, which it records instead of a start time. */
  readonly number: string;
  /** The named pipe that exists as long as the command runs. */
  readonly pipe: string;
}

/**
 * The program that runs a command on Windows and outlives us, as `sh` does elsewhere: it records the start and the exit of the
 * command. A process that can connect to its pipe knows that the command runs; one that writes to it ends the command with all
 * that it started. It listens before it records its start, so that a started command without a pipe has died; the record is
 * complete from the first moment. `cmd.exe` gets its arguments as they are, because its quotes are not those of other programs.
 */
export const WRAPPER_PROGRAM = `
const { execFile, spawn } = require('node:child_process');
const { appendFileSync, linkSync, openSync, readFileSync, unlinkSync, writeFileSync, writeSync } = require('node:fs');
const { createServer } = require('node:net');
const written = readFileSync(0, 'utf8');
// We were killed before we could say what to run.
if (!written.endsWith('\\n')) process.exit(1);
const command = JSON.parse(written);
let child;
const end = () => {
  if (child?.pid !== undefined) execFile('taskkill', ['/T', '/F', '/PID', String(child.pid)], () => child.kill());
};
const server = createServer((socket) => socket.on('error', () => {}).on('data', end));
server.on('error', () => process.exit(1));
server.listen(command.pipe, () => {
  let record;
  try {
    const draft = command.started + '.' + command.number;
    writeFileSync(draft, process.pid + ' ' + command.number + '\\n', { flag: 'wx' });
    try {
      linkSync(draft, command.started);
    } finally {
      unlinkSync(draft);
    }
    record = openSync(command.started, 'a');
  } catch (error) {
    if (error.code === 'ENOSPC') process.exit(${NEVER_RAN_STATUS});
    if (error.code !== 'EEXIST') appendFileSync(command.stderr, error.message + '\\n');
    process.exit(1);
  }
  const finish = (code) => {
    writeSync(record, code + '\\n');
    process.exit(0);
  };
  const fail = (error) => {
    appendFileSync(command.stderr, error.message + '\\n');
    finish(127);
  };
  try {
    const stdio = [openSync(command.stdin, 'r'), openSync(command.stdout, 'a'), openSync(command.stderr, 'a')];
    const windowsVerbatimArguments = command.file === 'cmd.exe';
    const { cwd, env } = command;
    child = spawn(command.file, command.args, { cwd, env, stdio, windowsHide: true, windowsVerbatimArguments });
    child.once('error', fail);
    child.once('exit', (code) => finish(code ?? 1));
  } catch (error) {
    fail(error);
  }
});
`;
