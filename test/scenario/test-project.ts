import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ResumeRequest, resumeRun } from '../../src/app/resume.ts';
import { type RunRequest, runWorkflow } from '../../src/app/start.ts';
import type { Activity } from '../../src/core/run/activity.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { Run } from '../../src/core/run/run.ts';
import { AgentLabels } from '../../src/render/agent-labels.ts';
import { formatEvent } from '../../src/render/format.ts';
import type { RunHandle } from '../../src/wiring/run-handle.ts';

/** A temporary folder in which a test runs workflows with canned answers. */
export interface TestProject {
  readonly folder: string;
  /** Writes files and creates their folders. */
  write(files: Readonly<Record<string, string>>): void;
  /** Reads a file. */
  read(name: string): string;
  /** The paths of all files except Raymond's own and those of the workflow. */
  files(): readonly string[];
  start(path: string, answers: string, request?: RunRequest): Promise<ObservedHandle>;
  resume(id: string, request?: ResumeRequest): Promise<ObservedHandle>;
}

/** A running run, with the events and activities observed so far. */
export interface ObservedHandle extends RunHandle {
  readonly seen: { readonly events: readonly Event[]; readonly activities: readonly Activity[] };
}

const FAST = { ...process.env, RAYMOND_REPLAY: 'fast' };

/** Creates an empty project with its own `.raymond`; it is removed after the test. */
export function openTestProject(): TestProject {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-project-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(folder, '.raymond'));
  const observed = async (start: (place: RunRequest) => Promise<RunHandle>): Promise<ObservedHandle> => {
    const seen: { events: Event[]; activities: Activity[] } = { events: [], activities: [] };
    const running = await start({
      cwd: folder,
      env: FAST,
      observe: (event) => void seen.events.push(event),
      watch: (activity) => void seen.activities.push(activity),
    });
    return Object.assign(Object.create(running) as RunHandle, { seen });
  };
  return {
    folder,
    write(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
    },
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    files: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
        .filter((path) => !/^(\.raymond|wf)\//.test(path))
        .sort(),
    start: (path, answers, request = {}) =>
      observed((place) => {
        const options = { agent: `replay:${join(folder, answers)}`, ...request.options };
        return runWorkflow(path, { ...place, ...request, options });
      }),
    resume: (id, request = {}) => observed((place) => resumeRun(id, { ...place, ...request })),
  };
}

/** Runs a workflow to its end. */
export async function runToEnd(
  files: Readonly<Record<string, string>>,
  answers: string,
  request: RunRequest = {},
): Promise<{ readonly project: TestProject; readonly run: Run; readonly handle: ObservedHandle }> {
  const project = openTestProject();
  project.write(Object.fromEntries(Object.entries(files).map(([name, text]) => [`wf/${name}`, text])));
  project.write({ 'wf/answers.yaml': answers });
  const handle = await project.start('wf', 'wf/answers.yaml', request);
  return { project, handle, run: await handle.finished };
}

const LOGGED_KINDS: readonly Event['kind'][] = [
  ...(['transition', 'reminded', 'agent_started', 'agent_failed', 'agent_paused', 'warning', 'visit_limit'] as const),
  ...(['run_ended', 'turn_ended', 'session_lost', 'answer_withheld'] as const),
];

/** The log of a run without times, sorted by agent, so that it does not depend on timing. */
export function logLines(events: readonly Event[]): readonly string[] {
  const labels = new AgentLabels();
  for (const event of events) labels.observe(event);
  const logged = events.filter(({ kind }) => LOGGED_KINDS.includes(kind));
  const agents = [...new Set(logged.map((event) => ('agent' in event ? event.agent : '~')))].sort();
  return agents.flatMap((agent) =>
    logged
      .filter((event) => ('agent' in event ? event.agent : '~') === agent)
      .flatMap((event) => formatEvent(event, labels.of) ?? []),
  );
}
