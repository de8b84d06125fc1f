/** Raymond as a library: starts, watches, stops and resumes runs, or only interprets them as plain data. */
export type { Activity, Doing } from './core/activity.ts';
export type { Agent } from './core/agent.ts';
export { type ClaudeTurn, due, type ScriptTurn, type SleepTurn, type Turn } from './core/due.ts';
export type { Event, Step } from './core/event.ts';
export { DEFAULT_OPTIONS, type Options } from './core/options.ts';
export { newRun, type Run, type RunStatus } from './core/run.ts';
export type { Signal } from './core/signal.ts';
export type { FileFinding, State } from './core/state.ts';
export { initialEvents, step } from './core/step.ts';
export { RaymondError } from './errors.ts';
export { listRuns, type RunListEntry } from './runtime/list-runs.ts';
export { type ResumeRequest, resumeRun } from './runtime/resume.ts';
export type { RunEnvironment, RunHandle } from './runtime/run-handle.ts';
export { openWorkflow, type RunRequest, runWorkflow, type Workflow } from './runtime/start.ts';
export { getStatus, type StatusReport } from './runtime/status.ts';
export { type StopOutcome, type StopRequest, stopRun } from './runtime/stop.ts';
