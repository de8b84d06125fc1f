import { existsSync } from 'node:fs';
import type { PromptTurn, ScriptTurn } from '../core/turns/due.ts';
import { errorMessageOf, RaymondError } from '../errors.ts';
import type { Failure, FailureKind } from '../language/failure.ts';
import {
  MARKER_VARIABLE,
  type NotStarted,
  type Obstacle,
  type ProcessCommand,
  type ProcessExit,
  type ProcessRef,
  type StartedCommand,
} from '../process/command.ts';
import { END_GRACE_MS, endTurn } from '../process/end.ts';
import { findCommand, waitForEnd } from '../process/find.ts';
import { lastWriteTimeMs } from '../process/lines.ts';
import { turnMarker } from '../process/marker.ts';
import type { SandboxRequest } from '../process/sandbox.ts';
import { isRecordedUnable, turnFiles } from '../process/turn-files.ts';
import { type ProcessEndCause, type SilenceLimits, supervise } from './supervise.ts';
import type { TurnContext } from './turn-context.ts';

/** The outcome of a turn's process, and its time. */
export type ProcessEnd =
  | {
      readonly kind: 'ended';
      readonly exit: Exclude<ProcessExit, { kind: 'never_ran' }>;
      readonly endCause: ProcessEndCause;
      /** How it was found if an earlier process of Raymond had started it; null if this one did. */
      readonly found: 'running' | 'over' | null;
      readonly atMs: number;
    }
  | { readonly kind: 'never_started'; readonly atMs: number }
  /** The machine went down, and nothing is left that says whether it had started. */
  | { readonly kind: 'untraceable'; readonly atMs: number }
  | { readonly kind: 'not_started'; readonly message: string; readonly obstacle: Obstacle; readonly atMs: number };

/**
 * True if a turn that may have done something is taken again without asking: a resume with --retry has the user's word for what
 * it finds, but not for what happens later.
 */
export const mayTakeAgain = ({ retry }: TurnContext, { kind }: Pick<Failure, 'kind'>, end: ProcessEnd): boolean =>
  retry && kind === 'interrupted' && (end.kind === 'untraceable' || (end.kind === 'ended' && end.found === 'over'));

/** How a turn's process is looked after. */
export interface Supervision extends SilenceLimits {
  /** Called once the process is known to run, with the promise of its end. */
  readonly onRunning: (exited: Promise<unknown>) => void;
}

type ProcessTurn = PromptTurn | ScriptTurn;

/** The place of a turn that has a process of its own. */
const ownPlace = (context: TurnContext, turn: ProcessTurn): ProcessRef => ({
  dir: context.folderOf(turn),
  marker: turnMarker(context, turn),
});

/** Starts a turn's command and waits for its end. */
export async function runTurn(
  context: TurnContext,
  turn: ProcessTurn,
  command: ProcessCommand,
  supervision: Supervision,
): Promise<ProcessEnd> {
  const place = ownPlace(context, turn);
  const started = await startMarked(context, place, command);
  if (started.kind === 'not_started') return { ...started, atMs: context.clock.now() };
  return superviseProcess(context, turn, place, started.exited, supervision);
}

/** Starts a command in this place, in the name of the run. */
export async function startMarked(
  { starter, presenceDescriptor, beforeStart, sandboxes }: TurnContext,
  { dir, marker }: ProcessRef,
  command: ProcessCommand,
): Promise<StartedCommand | NotStarted> {
  if (!existsSync(command.cwd)) {
    // The wrapper would find that out too, but in the words of a shell.
    const message = `the working directory ${command.cwd} does not exist`;
    return { kind: 'not_started', message, obstacle: 'lasting' };
  }
  await beforeStart?.();
  const confined = command.sandbox === undefined ? command : await confine(sandboxes, command, command.sandbox);
  if ('kind' in confined) return confined;
  const env = { ...confined.env, [MARKER_VARIABLE]: marker };
  return starter.start(dir, { ...confined, env, inherited: presenceDescriptor });
}

/** Puts a command into its sandbox. Without one, it is not started at all. */
async function confine(
  sandboxes: TurnContext['sandboxes'],
  command: ProcessCommand,
  request: SandboxRequest,
): Promise<ProcessCommand | NotStarted> {
  try {
    if (sandboxes === undefined) throw new Error('this turn needs a sandbox, and there is none here');
    return await sandboxes.confine(command, request);
  } catch (error) {
    const hint = error instanceof RaymondError && error.hint !== undefined ? ` ${error.hint}` : '';
    const message = `cannot start ${command.file}: ${errorMessageOf(error)}${hint}`;
    return { kind: 'not_started', message, obstacle: 'lasting' };
  }
}

/** Finds a turn that an earlier process of Raymond started, and waits for its end. Nothing is ever started twice. */
export async function adoptTurn(
  context: TurnContext,
  turn: ProcessTurn,
  supervision: Supervision,
  place = ownPlace(context, turn),
): Promise<ProcessEnd> {
  const { dir, marker } = place;
  const found = await findCommand(dir, marker);
  switch (found.kind) {
    case 'never_started':
      return {
        kind: context.isDoubtful(turn) ? 'untraceable' : 'never_started',
        atMs: turn.record?.startedAt ?? context.clock.now(),
      };
    case 'alive':
      return superviseProcess(context, turn, place, waitForEnd(dir, marker), supervision, 'running');
    case 'never_ran':
      return neverRan(context, place);
    default: {
      supervision.onRunning(Promise.resolve());
      const atMs = await estimateEndMs(context, turn, place);
      return { kind: 'ended', exit: found, endCause: 'exited', found: 'over', atMs };
    }
  }
}

/** Waits for the end of a turn whose process runs in this place. */
export async function superviseProcess(
  context: TurnContext,
  turn: ProcessTurn,
  place: ProcessRef,
  exited: Promise<ProcessExit>,
  { timeoutMs, grace, hopeless, overspent, onRunning }: Supervision,
  found: 'running' | null = null,
): Promise<ProcessEnd> {
  const { dir, marker } = place;
  const { stdout, stderr } = turnFiles(dir);
  onRunning(exited);
  const result = await supervise({
    exited,
    // After its result only stdout counts as activity: output on stderr must not keep the process alive.
    lastOutputMs: () => lastWriteTimeMs(grace?.isDone() ? [stdout] : [stdout, stderr]),
    timeoutMs,
    grace,
    ...(hopeless && { hopeless }),
    ...(overspent && { overspent }),
    kill: context.endings.signalFor(turn.agent),
    terminate: () => endTurn(dir, marker, { graceMs: END_GRACE_MS }),
  });
  const { exit, endCause } = result;
  if (exit.kind === 'never_ran') return neverRan(context, place);
  return { kind: 'ended', exit, endCause, found, atMs: context.clock.now() };
}

/** The end of a turn whose wrapper could not run the command. Nothing has run, so it can be tried again. */
function neverRan({ clock }: TurnContext, { dir }: ProcessRef): ProcessEnd {
  const obstacle = isRecordedUnable(dir) ? 'shortage' : 'full_disk';
  const reason = obstacle === 'shortage' ? 'the system allows no more processes' : 'the disk is full';
  return { kind: 'not_started', message: `it was never started: ${reason}`, obstacle, atMs: clock.now() };
}

/** The failure of a turn whose process never ran, or perhaps never ran. A turn that certainly did not is taken again. */
export function notRunFailure(
  end: Exclude<ProcessEnd, { kind: 'ended' }>,
  kindOfLastingObstacle: FailureKind,
  startLostMessage: string,
): Failure {
  if (end.kind === 'never_started') return { kind: 'lost', message: 'it never started' };
  if (end.kind === 'untraceable') return { kind: 'interrupted', message: startLostMessage };
  const kinds = { shortage: 'transient', full_disk: 'disk', lasting: kindOfLastingObstacle } as const;
  return { kind: kinds[end.obstacle], message: end.message };
}

/** Estimates when an unwatched turn ended: at the last write to its files. */
async function estimateEndMs({ clock }: TurnContext, turn: ProcessTurn, { dir }: ProcessRef): Promise<number> {
  const { started, stdout, stderr } = turnFiles(dir);
  const lastWriteMs = Math.round(await lastWriteTimeMs([started, stdout, stderr]));
  if (lastWriteMs === 0) return clock.now();
  return Math.max(turn.record?.startedAt ?? 0, clock.fromFileTime(lastWriteMs));
}
