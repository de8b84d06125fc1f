import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Activity } from '../../src/core/activity.ts';
import type { Event } from '../../src/core/event.ts';
import type { Run } from '../../src/core/run.ts';
import { formatEvent } from '../../src/events/format.ts';
import { type ResumeRequest, resumeRun } from '../../src/runtime/resume.ts';
import type { RunHandle } from '../../src/runtime/run-handle.ts';
import { type RunRequest, runWorkflow } from '../../src/runtime/start.ts';

/** A folder in which workflows are played, for the time of a test. */
export interface Theatre {
  readonly folder: string;
  /** Writes files, and the folders they need. */
  write(files: Readonly<Record<string, string>>): void;
  /** What a file holds. */
  read(name: string): string;
  /** All files but Raymond's own and those of the workflow, as paths. */
  files(): readonly string[];
  start(path: string, answers: string, request?: RunRequest): Promise<Playing>;
  resume(id: string, request?: ResumeRequest): Promise<Playing>;
}

/** A run that is being played, and what was seen of it so far. */
export interface Playing extends RunHandle {
  readonly seen: { readonly events: readonly Event[]; readonly activities: readonly Activity[] };
}

const FAST = { ...process.env, RAYMOND_REPLAY: 'fast' };

/** An empty theatre. Its `.raymond` is its own. */
export function openTheatre(): Theatre {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-play-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, '.raymond'));
  const seeing = async (setOff: (place: RunRequest) => Promise<RunHandle>): Promise<Playing> => {
    const seen: { events: Event[]; activities: Activity[] } = { events: [], activities: [] };
    const running = await setOff({
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
      seeing((place) => {
        const options = { agent: `replay:${join(folder, answers)}`, ...request.options };
        return runWorkflow(path, { ...place, ...request, options });
      }),
    resume: (id, request = {}) => seeing((place) => resumeRun(id, { ...place, ...request })),
  };
}

/** Plays a workflow to its end. */
export async function play(
  files: Readonly<Record<string, string>>,
  answers: string,
  request: RunRequest = {},
): Promise<{ readonly theatre: Theatre; readonly run: Run; readonly playing: Playing }> {
  const theatre = openTheatre();
  theatre.write(Object.fromEntries(Object.entries(files).map(([name, text]) => [`wf/${name}`, text])));
  theatre.write({ 'wf/answers.yaml': answers });
  const playing = await theatre.start('wf', 'wf/answers.yaml', request);
  return { theatre, playing, run: await playing.finished };
}

const STORY: readonly Event['kind'][] = [
  ...(['transition', 'reminded', 'agent_started', 'agent_failed', 'agent_paused', 'warning', 'visit_limit'] as const),
  ...(['run_ended', 'turn_ended', 'session_lost', 'answer_withheld'] as const),
];

/** The story of a run in plain lines, without times, and in an order that does not depend on which agent was faster. */
export function storyOf(events: readonly Event[]): readonly string[] {
  const told = events.filter(({ kind }) => STORY.includes(kind));
  const agents = [...new Set(told.map((event) => ('agent' in event ? event.agent : '~')))].sort();
  return agents.flatMap((agent) =>
    told
      .filter((event) => ('agent' in event ? event.agent : '~') === agent)
      .flatMap((event) => formatEvent(event) ?? []),
  );
}
