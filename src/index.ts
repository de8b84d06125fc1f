/** Raymond as a library: starts, watches, stops and resumes runs, or only interprets them as plain data. */

export { getStatus, listRuns } from './app/library.ts';
export type { RunListEntry } from './app/list-runs.ts';
export { type ResumeRequest, resumeRun } from './app/resume.ts';
export { openWorkflow, type RunRequest, runWorkflow, type Workflow } from './app/start.ts';
export type { StatusReport } from './app/status.ts';
export { type StopOutcome, type StopRequest, stopRun } from './app/stop.ts';
export { DEFAULT_OPTIONS, type Options } from './core/options/options.ts';
export type { Activity, Doing } from './core/run/activity.ts';
export type { Agent } from './core/run/agent.ts';
export type { Event, Step } from './core/run/event.ts';
export { newRun, type Run, type RunStatus } from './core/run/run.ts';
export type { Signal } from './core/signals/signal.ts';
export { initialEvents, step } from './core/step.ts';
export { due, type PromptTurn, type ScriptTurn, type SleepTurn, type Turn } from './core/turns/due.ts';
export { RaymondError } from './errors.ts';
export type { FileFinding, State } from './language/state.ts';
export type { RunEnvironment, RunHandle } from './wiring/run-handle.ts';
