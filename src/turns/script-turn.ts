import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answered, Failed } from '../core/signals/signal.ts';
import type { ScriptTurn } from '../core/turns/due.ts';
import type { Failure, FailureKind } from '../language/failure.ts';
import { fileInWorkflow } from '../language/named-workflows.ts';
import type { State } from '../language/state.ts';
import type { ProcessCommand } from '../process/command.ts';
import { isCutOff, saysDiskIsFull } from '../process/full-disk.ts';
import { followChunks, lastLines } from '../process/lines.ts';
import { makeOutputFilesSoon } from '../process/start.ts';
import { turnFiles } from '../process/turn-files.ts';
import { scriptEnvironment } from './environment.ts';
import { PrintReporter } from './print-reporter.ts';
import { adoptTurn, mayTakeAgain, notRunFailure, type ProcessEnd, runTurn, type Supervision } from './process-turn.ts';
import { sandboxRequest, warnOfRefusedHosts } from './sandbox/request.ts';
import { reportScriptOutput } from './script-output.ts';
import { answeredSignal, failedSignal } from './signals.ts';
import type { TurnContext } from './turn-context.ts';
import { createTurnMeta, describeTimeout, readTurnMeta, TURN_META_FILE } from './turn-meta.ts';

const PAYLOAD_FILE = 'result';
/** The answer that an evaluator is to judge. */
const OUTPUT_FILE = 'output';
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const TOO_MUCH_OUTPUT = 'the script printed more than 64 MiB; let it write that to a file, and print its tag';
/** Reported here and not by the interpreter, because only here its stderr is known. */
const NO_OUTPUT = 'no next step is found in its output: it printed nothing';
const RETRY_HINT = '`resume --retry` runs it again';
const START_LOST = `the machine went down, and no trace is left of whether the script ran; ${RETRY_HINT}`;
const OUTPUT_LOST = `the machine went down, and what the script printed is lost; ${RETRY_HINT}`;
const FULL_DISK = `the disk was full while the script ran, so it may have done half of its work; free some space, then ${RETRY_HINT}`;
const MAX_TAIL_LINES = 20;
const MAX_TAIL_BYTES = 4_096;

/** Makes the folder of a script's turn, with as few files as it needs: each adds to the time of a transition. */
export async function prepareScriptTurn(
  context: TurnContext,
  turn: ScriptTurn,
  state: State,
): Promise<readonly string[]> {
  const meta = createTurnMeta(state, context.options);
  const folder = await context.makeFolder(turn, {
    ...(meta.timeoutMs !== null && { [TURN_META_FILE]: JSON.stringify(meta) }),
    ...(turn.input !== null && { [PAYLOAD_FILE]: turn.input }),
    ...(turn.evaluates !== null && { [OUTPUT_FILE]: turn.evaluates.text }),
  });
  makeOutputFilesSoon(folder);
  if (context.scriptPath(turn.state) === null) updateUnpacked(unpackedPath(context, turn), state.text);
  return [];
}

const unpackedPath = ({ filesFolder }: TurnContext, { state }: ScriptTurn): string =>
  join(filesFolder(state), fileInWorkflow(state));

/** Writes an unpacked script anew if the zip or one-file workflow has changed since; one that is running keeps its file. */
function updateUnpacked(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** Runs a script, or adopts one that is running already, and reports how it ended. */
export async function runScriptTurn(
  context: TurnContext,
  turn: ScriptTurn,
  adopted: boolean,
  isBoxed = false,
): Promise<Answered | Failed> {
  const meta = await readTurnMeta(context, turn);
  let outputReported: Promise<unknown> = Promise.resolve();
  const prints = new PrintReporter(context, turn, adopted);
  const supervision: Supervision = {
    timeoutMs: meta.timeoutMs,
    grace: null,
    onRunning(exited) {
      const files = turnFiles(context.folderOf(turn));
      outputReported = reportScriptOutput(context, turn, prints, exited, (stream) =>
        followChunks(files[stream], { until: exited }),
      );
    },
  };
  const end = adopted
    ? await adoptTurn(context, turn, supervision)
    : await runTurn(context, turn, scriptCommand(context, turn, isBoxed), supervision);
  warnOfRefusedHosts(context, turn);
  await outputReported;
  const { stdout, stderr } = turnFiles(context.folderOf(turn));
  const output = await prints.complete('stdout', stdout);
  await prints.complete('stderr', stderr);
  const failed = async (kind: FailureKind, message: string): Promise<Failed> => {
    // Test runners and linters report on stdout.
    const tail = (await readTail(stderr)) || (await readTail(stdout));
    const failure = mayTakeAgain(context, { kind }, end)
      ? { kind: 'lost' as const, message }
      : { kind, message: tail === '' ? message : `${message}\n${tail}` };
    return { ...failedSignal(turn, end.atMs, failure), ...prints.signalFields };
  };
  if (await wasHitByFullDisk(end, context.folderOf(turn), output.size)) return failed('interrupted', FULL_DISK);
  const failure = scriptFailure(end, describeTimeout(meta));
  if (failure !== null) return failed(failure.kind, failure.message);
  if (output.size > MAX_OUTPUT_BYTES) return failed('script', TOO_MUCH_OUTPUT);
  const text = output.text ?? readFileSync(stdout, 'utf8');
  // Its output may be lost if it was not on disk yet; some file systems then have zeros in its place.
  if (context.isDoubtful(turn) && (text.trim() === '' || text.includes('\0')))
    return failed('interrupted', OUTPUT_LOST);
  // An evaluator that has nothing to say confirms.
  if (text.trim() === '' && turn.evaluates === null) return failed('no_answer', NO_OUTPUT);
  const signal = await answeredSignal(context, turn, end.atMs, { text, cost: null, denials: [] });
  return { ...signal, ...prints.signalFields };
}

const readTail = (file: string): Promise<string> => lastLines(file, MAX_TAIL_LINES, MAX_TAIL_BYTES);

function scriptCommand(context: TurnContext, turn: ScriptTurn, isBoxed: boolean): ProcessCommand {
  const dir = context.folderOf(turn);
  const [file, ...args] = interpreterCommand(context.scriptPath(turn.state) ?? unpackedPath(context, turn));
  const env = scriptEnvironment(context, turn, { result: join(dir, PAYLOAD_FILE), output: join(dir, OUTPUT_FILE) });
  const sandbox = isBoxed ? { sandbox: sandboxRequest(turn) } : {};
  return { file, args, cwd: turn.cwd, input: 'none', env, ...sandbox };
}

function interpreterCommand(script: string): [string, ...string[]] {
  if (script.endsWith('.ps1')) return ['powershell.exe', '-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', script];
  // With /s, cmd.exe removes the outer quotes and takes the rest as it is.
  if (script.endsWith('.bat')) return ['cmd.exe', '/d', '/v:off', '/s', '/c', `""${script}""`];
  return ['/bin/bash', script];
}

/** True if a full disk kept a script that ended by itself from doing or from saying all that it should. */
async function wasHitByFullDisk(end: ProcessEnd, dir: string, stdoutBytes: number): Promise<boolean> {
  if (end.kind !== 'ended' || end.endCause !== 'exited' || end.exit.kind !== 'exited') return false;
  if (end.exit.diskWasFull || isCutOff(turnFiles(dir).stdout, stdoutBytes)) return true;
  if (end.exit.code === 0) return false;
  return saysDiskIsFull(await readTail(turnFiles(dir).stderr));
}

/** Why a script's output does not count: only a clean exit does. Null after one. */
function scriptFailure(end: ProcessEnd, timeoutMessage: string): Failure | null {
  if (end.kind !== 'ended') return notRunFailure(end, 'script', START_LOST);
  const { exit, endCause } = end;
  // It may have ended well just when it was to be ended: that counts.
  if (exit.kind === 'exited' && exit.code === 0) return null;
  if (endCause === 'stopped')
    return { kind: 'interrupted', message: `the script was ended because the run was stopped; ${RETRY_HINT}` };
  if (endCause === 'timeout') return { kind: 'timeout', message: `the script was ended: ${timeoutMessage}` };
  if (exit.kind === 'died') return { kind: 'interrupted', message: `the script was killed midway; ${RETRY_HINT}` };
  return { kind: 'script', message: `the script ended with exit code ${exit.code}` };
}
