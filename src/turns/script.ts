import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptTurn } from '../core/due.ts';
import type { FailureKind } from '../core/failure.ts';
import type { Options } from '../core/run.ts';
import type { Answered, Failed } from '../core/signal.ts';
import type { State } from '../core/state.ts';
import { type Command, MARKER } from '../process/command.ts';
import { followLines, lastLines } from '../process/lines.ts';
import { turnFiles } from '../process/turn-files.ts';
import { type Desk, markerOf } from './desk.ts';
import { type Environment, scriptEnvironment } from './environment.ts';
import { lookUpFolders } from './folders.ts';
import { NOTE_FILE, noteOf, readNote, silenceOf } from './note.ts';
import { adoptTurn, type Care, type ProcessEnd, runTurn } from './process-turn.ts';

const PAYLOAD_FILE = 'result';
const MOST_OUTPUT = 64 * 1024 * 1024;
const TOO_MUCH = 'the script printed more than 64 MiB; let it write that to a file, and print its tag';
/** Told here and not where answers are judged, because what it said on stderr is known here only. */
const NOTHING = 'no next step is found in its output: it printed nothing';
const MOST_LINES = 20;
const MOST_BYTES = 4_096;

/**
 * Makes the folder of a script's turn: what was handed over, the script itself if it is zipped, and a
 * note only if it says anything: each file adds to what a transition costs.
 */
export async function prepareScript(
  desk: Desk,
  turn: ScriptTurn,
  state: State,
  options: Options,
): Promise<readonly string[]> {
  const note = noteOf(state, options);
  await desk.makeFolder(turn, {
    ...(note.timeoutMs !== null && { [NOTE_FILE]: JSON.stringify(note) }),
    ...(turn.input !== null && { [PAYLOAD_FILE]: turn.input }),
    ...(desk.scriptPath(turn.state) === null && { [turn.state]: state.text }),
  });
  return [];
}

/** Runs a script, or finds it again, and says what came of it. */
export async function takeScript(
  desk: Desk,
  turn: ScriptTurn,
  life: 'this' | 'earlier',
  env: Environment,
  kill: AbortSignal,
): Promise<Answered | Failed> {
  const dir = desk.folderOf(turn);
  const note = readNote(dir);
  let heardAll: Promise<unknown> = Promise.resolve();
  const care: Care = {
    ...{ marker: markerOf(desk, turn), timeoutMs: note.timeoutMs, grace: null, kill },
    onRunning(exited) {
      if (desk.notice !== undefined) heardAll = tellPrints(dir, turn.agent, desk.notice, exited);
    },
  };
  const outcome = await (life === 'this' ? runTurn(dir, commandOf(desk, turn, dir, env), care) : adoptTurn(dir, care));
  await heardAll;
  // Who ended while nobody was there has not worked until now.
  const at = outcome.kind === 'ended' ? outcome.atMs : Date.now();
  const fault = faultOf(outcome, silenceOf(note));
  if (fault !== null) return failed(turn, dir, at, ...fault);
  const { stdout } = turnFiles(dir);
  if (statSync(stdout).size > MOST_OUTPUT) return failed(turn, dir, at, 'script', TOO_MUCH);
  const text = readFileSync(stdout, 'utf8');
  if (text.trim() === '') return failed(turn, dir, at, 'script', NOTHING);
  const [scope, folders] = await Promise.all([desk.scope(), lookUpFolders(text, turn.policy, turn.cwd)]);
  return { kind: 'answered', at, agent: turn.agent, text, cost: null, denials: [], scope, folders };
}

/** Tells whoever watches each line of a script's output as it comes. That it fails is no turn's trouble. */
async function tellPrints(
  dir: string,
  agent: string,
  notice: NonNullable<Desk['notice']>,
  exited: Promise<unknown>,
): Promise<void> {
  const tell = (line: Buffer): void => {
    const text = line.toString('utf8');
    if (text.trim() !== '') notice({ at: Date.now(), agent, doing: { kind: 'prints', text } });
  };
  const { stdout, stderr } = turnFiles(dir);
  await Promise.allSettled([stdout, stderr].map((file) => followLines(file, tell, { until: exited })));
}

function commandOf(desk: Desk, turn: ScriptTurn, dir: string, outer: Environment): Command {
  const [file, ...args] = interpreter(desk.scriptPath(turn.state) ?? join(dir, turn.state));
  const env = scriptEnvironment(outer, turn, desk.runId, join(dir, PAYLOAD_FILE));
  return { file, args, cwd: turn.cwd, input: 'none', env: { ...env, [MARKER]: markerOf(desk, turn) } };
}

function interpreter(script: string): [string, ...string[]] {
  if (script.endsWith('.ps1')) return ['powershell.exe', '-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', script];
  if (script.endsWith('.bat')) return ['cmd.exe', '/c', script];
  return ['/bin/bash', script];
}

/** Why a script's output is not to be listened to: only a clean exit counts. */
function faultOf(outcome: ProcessEnd, silence: string): [FailureKind, string] | null {
  if (outcome.kind === 'never_started') return ['lost', 'it never started'];
  if (outcome.kind === 'not_started') return [outcome.transient ? 'transient' : 'script', outcome.message];
  const { exit, ending } = outcome;
  // What has ended well counts, also if we had just lost patience with it.
  if (exit.kind === 'exited' && exit.code === 0) return null;
  const again = '; `resume --retry` runs it again';
  if (ending === 'stopped') return ['interrupted', `the script was ended because the run was stopped${again}`];
  if (ending === 'timeout') return ['script', `the script was ended: ${silence}`];
  if (exit.kind === 'died') return ['interrupted', `the script was killed midway${again}`];
  return ['script', `the script ended with exit code ${exit.code}`];
}

async function failed(turn: ScriptTurn, dir: string, at: number, kind: FailureKind, message: string): Promise<Failed> {
  const said = await lastLines(turnFiles(dir).stderr, MOST_LINES, MOST_BYTES);
  const failure = { kind, message: said === '' ? message : `${message}\n${said}` };
  const rest = { cost: null, progress: 'none', jitter: Math.random() } as const;
  return { kind: 'failed', at, agent: turn.agent, failure, ...rest };
}
