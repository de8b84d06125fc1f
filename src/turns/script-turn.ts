import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptTurn } from '../core/due.ts';
import type { FailureKind } from '../core/failure.ts';
import type { Options } from '../core/run.ts';
import type { Answered, Failed } from '../core/signal.ts';
import type { State } from '../core/state.ts';
import { MARKER_VARIABLE, type ProcessCommand } from '../process/command.ts';
import { followLines, lastLines } from '../process/lines.ts';
import { turnFiles } from '../process/turn-files.ts';
import { type Environment, scriptEnvironment } from './environment.ts';
import { lookUpFolders } from './folders.ts';
import { adoptTurn, type ProcessEnd, runTurn, type Supervision } from './process-turn.ts';
import { type TurnContext, turnMarker } from './turn-context.ts';
import { createTurnMeta, describeTimeout, readTurnMeta, TURN_META_FILE } from './turn-meta.ts';

const PAYLOAD_FILE = 'result';
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const TOO_MUCH_OUTPUT = 'the script printed more than 64 MiB; let it write that to a file, and print its tag';
/** Told here and not where answers are judged, because what it said on stderr is known here only. */
const NO_OUTPUT = 'no next step is found in its output: it printed nothing';
const MAX_STDERR_LINES = 20;
const MAX_STDERR_BYTES = 4_096;

/**
 * Makes the folder of a script's turn: what was handed over, the script itself if it is zipped, and a
 * note only if it says anything: each file adds to what a transition costs.
 */
export async function prepareScriptTurn(
  context: TurnContext,
  turn: ScriptTurn,
  state: State,
  options: Options,
): Promise<readonly string[]> {
  const meta = createTurnMeta(state, options);
  await context.makeFolder(turn, {
    ...(meta.timeoutMs !== null && { [TURN_META_FILE]: JSON.stringify(meta) }),
    ...(turn.input !== null && { [PAYLOAD_FILE]: turn.input }),
    ...(context.scriptPath(turn.state) === null && { [turn.state]: state.text }),
  });
  return [];
}

/** Runs a script, or finds it again, and says what came of it. */
export async function runScriptTurn(
  context: TurnContext,
  turn: ScriptTurn,
  adopted: 'this' | 'earlier',
  env: Environment,
  kill: AbortSignal,
): Promise<Answered | Failed> {
  const dir = context.folderOf(turn);
  const meta = readTurnMeta(dir);
  let outputReported: Promise<unknown> = Promise.resolve();
  const supervision: Supervision = {
    ...{ marker: turnMarker(context, turn), timeoutMs: meta.timeoutMs, grace: null, kill },
    onRunning(exited) {
      if (context.onActivity !== undefined) outputReported = reportOutput(dir, turn.agent, context.onActivity, exited);
    },
  };
  const end = await (adopted === 'this'
    ? runTurn(dir, scriptCommand(context, turn, dir, env), supervision)
    : adoptTurn(dir, supervision));
  await outputReported;
  // Who ended while nobody was there has not worked until now.
  const at = end.kind === 'ended' ? end.atMs : Date.now();
  const failure = scriptFailure(end, describeTimeout(meta));
  if (failure !== null) return failedSignal(turn, dir, at, ...failure);
  const { stdout } = turnFiles(dir);
  if (statSync(stdout).size > MAX_OUTPUT_BYTES) return failedSignal(turn, dir, at, 'script', TOO_MUCH_OUTPUT);
  const text = readFileSync(stdout, 'utf8');
  if (text.trim() === '') return failedSignal(turn, dir, at, 'script', NO_OUTPUT);
  const [scope, folders] = await Promise.all([context.readScope(), lookUpFolders(text, turn.policy, turn.cwd)]);
  return { kind: 'answered', at, agent: turn.agent, text, cost: null, denials: [], scope, folders };
}

/** Tells whoever watches each line of a script's output as it comes. That it fails is no turn's trouble. */
async function reportOutput(
  dir: string,
  agent: string,
  onActivity: NonNullable<TurnContext['onActivity']>,
  exited: Promise<unknown>,
): Promise<void> {
  const report = (line: Buffer): void => {
    const text = line.toString('utf8');
    if (text.trim() !== '') onActivity({ at: Date.now(), agent, doing: { kind: 'prints', text } });
  };
  const { stdout, stderr } = turnFiles(dir);
  await Promise.allSettled([stdout, stderr].map((file) => followLines(file, report, { until: exited })));
}

function scriptCommand(context: TurnContext, turn: ScriptTurn, dir: string, inheritedEnv: Environment): ProcessCommand {
  const [file, ...args] = interpreterCommand(context.scriptPath(turn.state) ?? join(dir, turn.state));
  const env = scriptEnvironment(inheritedEnv, turn, context.runId, join(dir, PAYLOAD_FILE));
  return { file, args, cwd: turn.cwd, input: 'none', env: { ...env, [MARKER_VARIABLE]: turnMarker(context, turn) } };
}

function interpreterCommand(script: string): [string, ...string[]] {
  if (script.endsWith('.ps1')) return ['powershell.exe', '-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', script];
  if (script.endsWith('.bat')) return ['cmd.exe', '/c', script];
  return ['/bin/bash', script];
}

/** Why a script's output is not to be listened to: only a clean exit counts. */
function scriptFailure(end: ProcessEnd, timeoutMessage: string): [FailureKind, string] | null {
  if (end.kind === 'never_started') return ['lost', 'it never started'];
  if (end.kind === 'not_started') return [end.transient ? 'transient' : 'script', end.message];
  const { exit, endCause } = end;
  // What has ended well counts, also if we had just lost patience with it.
  if (exit.kind === 'exited' && exit.code === 0) return null;
  const retryHint = '; `resume --retry` runs it again';
  if (endCause === 'stopped') return ['interrupted', `the script was ended because the run was stopped${retryHint}`];
  if (endCause === 'timeout') return ['script', `the script was ended: ${timeoutMessage}`];
  if (exit.kind === 'died') return ['interrupted', `the script was killed midway${retryHint}`];
  return ['script', `the script ended with exit code ${exit.code}`];
}

async function failedSignal(
  turn: ScriptTurn,
  dir: string,
  at: number,
  kind: FailureKind,
  message: string,
): Promise<Failed> {
  const stderrTail = await lastLines(turnFiles(dir).stderr, MAX_STDERR_LINES, MAX_STDERR_BYTES);
  const failure = { kind, message: stderrTail === '' ? message : `${message}\n${stderrTail}` };
  const rest = { cost: null, progress: 'none', jitter: Math.random() } as const;
  return { kind: 'failed', at, agent: turn.agent, failure, ...rest };
}
