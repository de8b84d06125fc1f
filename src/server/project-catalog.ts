import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { RunPlace } from '../app/launcher.ts';
import type { RunListEntry } from '../app/list-runs.ts';
import { projectFolderOf, readKnownProjects } from '../app/trust/known-projects.ts';
import { readGitPlace } from '../git-repository.ts';
import { findFolders } from '../wiring/find-workflows.ts';
import { Problem } from './problem.ts';

/** A folder with a `.raymond`, or one in which workflows can be started; or a database, whose runs are then all that is shown. */
export interface Project extends RunPlace {
  /** Short and the same every time: it stands in addresses. */
  readonly id: string;
  /** The folder, or the name of the database. */
  readonly folder: string;
  /** The folder in which commands for its runs are started. */
  readonly commandFolder: string;
}

/** A workflow that was found on disk. */
export interface CatalogWorkflow {
  readonly id: string;
  readonly project: Project;
  readonly path: string;
  /** The folder in which its runs are started. */
  readonly folder: string;
}

/** A run, and the project it is in. */
export interface CatalogRun {
  readonly project: Project;
  readonly entry: RunListEntry;
}

/** Folders change seldom, and searching them takes long. */
const SEARCH_EVERY_MS = 10_000;
/** The server spends at most about a tenth of its time on searching. */
const PAUSE_PER_SEARCH = 10;

interface Found {
  readonly atMs: number;
  readonly tookMs: number;
  readonly projects: readonly Project[];
  readonly workflows: readonly CatalogWorkflow[];
}

/** Everything that a server shows: projects, their workflows and their runs. It only reads. */
export class ProjectCatalog {
  private readonly roots: readonly string[];
  private readonly env: NodeJS.ProcessEnv;
  private readonly now: () => number;
  private readonly report: (message: string) => void;
  private readonly openFolder: (folder: string) => RunPlace;
  /** The projects that are there whatever folders are found: a database. */
  private readonly shared: readonly Project[];
  /** By folder: each remembers what it has read of its runs. */
  private readonly opened = new Map<string, Project>();
  private readonly missing = new Set<string>();
  private found: Promise<Found> | null = null;

  /** Without roots, it shows `folder` and every project that this user has started runs in. */
  constructor(
    roots: readonly string[],
    settings: {
      folder: string;
      env: NodeJS.ProcessEnv;
      now: () => number;
      report: (message: string) => void;
      openFolder: (folder: string) => RunPlace;
      shared?: RunPlace;
    },
  ) {
    const { folder, env, now, report, openFolder, shared } = settings;
    this.roots = roots.length > 0 ? roots : [folder];
    this.env = roots.length > 0 ? {} : env;
    this.now = now;
    this.report = report;
    this.openFolder = openFolder;
    this.shared =
      shared === undefined
        ? []
        : [{ ...shared, id: shortHash(shared.storage.name), folder: shared.storage.name, commandFolder: folder }];
  }

  async projects(): Promise<readonly Project[]> {
    return (await this.search()).projects;
  }

  async workflows(): Promise<readonly CatalogWorkflow[]> {
    return (await this.search()).workflows;
  }

  /** All runs of all projects, in no order. */
  async runs(): Promise<readonly CatalogRun[]> {
    const runs: CatalogRun[] = [];
    for (const project of await this.projects()) {
      if (!this.shared.includes(project) && !this.isPresent(project.folder)) continue;
      for (const entry of await project.storage.runs.list('journals')) runs.push({ project, entry });
    }
    return runs;
  }

  async project(id: string): Promise<Project> {
    const project = (await this.projects()).find((each) => each.id === id);
    if (project === undefined) throw new Problem(404, `There is no project ${id}.`);
    return project;
  }

  async workflow(projectId: string, id: string): Promise<CatalogWorkflow> {
    const workflow = (await this.workflows()).find((each) => each.project.id === projectId && each.id === id);
    if (workflow === undefined) throw new Problem(404, `There is no workflow ${id} in project ${projectId}.`);
    return workflow;
  }

  /** Looks through the roots, at most every few seconds. */
  private async search(): Promise<Found> {
    const last = await this.found;
    const pauseMs = Math.max(SEARCH_EVERY_MS, PAUSE_PER_SEARCH * (last?.tookMs ?? 0));
    // A clock that was set back must not keep what was found for as long.
    if (last !== null && Math.abs(this.now() - last.atMs) < pauseMs) return last;
    this.found = this.searchNow();
    return this.found;
  }

  private async searchNow(): Promise<Found> {
    const startedAt = this.now();
    const projects = new Set<Project>(this.shared);
    const addProject = (folder: string): Project => {
      const project = this.shared[0] ?? this.openProject(folder);
      projects.add(project);
      return project;
    };
    const workflows = new Map<string, CatalogWorkflow>();
    const known = readKnownProjects(this.env).filter((folder) => existsSync(folder));
    for (const root of new Set([...this.roots, ...known])) {
      if (!this.isPresent(root)) continue;
      addProject(projectFolderOf(root));
      const below = await findFolders(root);
      for (const folder of below.projects) addProject(folder);
      for (const path of below.workflows) {
        const own = projectFolderOf(path);
        // A folder that is nobody's project yet is started in where the search began.
        const folder = isProject(own) ? own : projectFolderOf(root);
        const project = addProject(folder);
        // A database has the workflows of several folders.
        const place = project.folder === folder ? relative(folder, path).split(sep).join('/') : path;
        workflows.set(path, { id: shortHash(place), project, path, folder });
      }
    }
    return {
      atMs: this.now(),
      tookMs: this.now() - startedAt,
      projects: [...projects],
      workflows: [...workflows.values()],
    };
  }

  private openProject(folder: string): Project {
    const project = this.opened.get(folder) ?? {
      ...this.openFolder(folder),
      id: shortHash(folder),
      folder,
      commandFolder: folder,
    };
    this.opened.set(folder, project);
    return project;
  }

  /** True if a folder is there; that it has vanished is said once. */
  private isPresent(folder: string): boolean {
    if (existsSync(folder)) {
      this.missing.delete(folder);
      return true;
    }
    if (!this.missing.has(folder)) this.report(`${folder} is not there any more: its runs are not shown.`);
    this.missing.add(folder);
    return false;
  }
}

const isProject = (folder: string): boolean => existsSync(join(folder, '.raymond')) || readGitPlace(folder) !== null;

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 10);
