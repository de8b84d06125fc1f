/** Raymond as a library: read a workflow, and interpret a run of it with nothing but plain data. */
export { type ClaudeTurn, due, type ScriptTurn, type SleepTurn, type Turn } from './core/due.ts';
export type { Event, Step } from './core/event.ts';
export { type Agent, DEFAULT_OPTIONS, newRun, type Options, type Run, type RunStatus } from './core/run.ts';
export type { Signal } from './core/signal.ts';
export type { Finding, State } from './core/state.ts';
export { opening, step } from './core/step.ts';
export { RaymondError } from './errors.ts';
export { openWorkflow, type Workflow } from './raymond.ts';
