import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { findFolders } from '../runtime/find-workflows.ts';
import { projectFolderOf, readKnownProjects } from '../runtime/known-projects.ts';
import type { RunListEntry } from '../runtime/list-runs.ts';
import { controlFiles, type RunControl } from '../runtime/run-control.ts';
import { RunSummaries } from '../runtime/run-summaries.ts';
import { Problem } from './problem.ts';

/** A folder with a `.raymond`, or one in which workflows can be started; or a database, whose runs are then all that is shown. */
export interface Project {
  /** Short and the same every time: it stands in addresses. */
  readonly id: string;
  /** The folder, or the name of the database. */
  readonly folder: string;
  readonly control: RunControl;
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

interface Found {
  readonly atMs: number;
  readonly projects: readonly Project[];
  readonly workflows: readonly CatalogWorkflow[];
}

/** Everything that a server shows: projects, their workflows and their runs. It only reads. */
export class ProjectCatalog {
  private readonly roots: readonly string[];
  private readonly env: NodeJS.ProcessEnv;
  private readonly fullEnv: NodeJS.ProcessEnv;
  private readonly now: () => number;
  private readonly report: (message: string) => void;
  /** The database whose runs are shown, instead of those of folders. */
  private readonly database: Project | null;
  private readonly summaries = new RunSummaries();
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
      database?: { readonly name: string; readonly control: RunControl };
    },
  ) {
    const { folder, env, now, report, database } = settings;
    this.roots = roots.length > 0 ? roots : [folder];
    this.env = roots.length > 0 ? {} : env;
    this.now = now;
    this.report = report;
    this.fullEnv = env;
    this.database =
      database === undefined
        ? null
        : { id: shortHash(database.name), folder: database.name, control: database.control };
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
      const { location } = project.control;
      if (typeof location !== 'string') {
        for (const entry of await location.listRuns(false)) runs.push({ project, entry });
        continue;
      }
      if (!this.isPresent(project.folder)) continue;
      for (const entry of await this.summaries.list(project.folder)) runs.push({ project, entry });
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
    if (last !== null && this.now() - last.atMs < SEARCH_EVERY_MS) return last;
    this.found = this.searchNow();
    return this.found;
  }

  private async searchNow(): Promise<Found> {
    const projects = new Map<string, Project>();
    const addProject = (folder: string): Project => {
      if (this.database !== null) return this.database;
      const project = projects.get(folder) ?? {
        id: shortHash(folder),
        folder,
        control: controlFiles(folder, this.fullEnv),
      };
      projects.set(folder, project);
      return project;
    };
    const workflows = new Map<string, CatalogWorkflow>();
    for (const root of this.roots) {
      if (!this.isPresent(root)) continue;
      addProject(projectFolderOf(root));
      const below = await findFolders(root);
      for (const folder of below.projects) addProject(folder);
      for (const path of below.workflows) {
        const own = projectFolderOf(path);
        // A folder that is nobody's project yet is started in where the search began.
        const folder = isProject(own) ? own : projectFolderOf(root);
        const project = addProject(folder);
        // In a database, workflows of several folders are side by side.
        const place = this.database === null ? relative(folder, path).split(sep).join('/') : path;
        workflows.set(path, { id: shortHash(place), project, path, folder });
      }
    }
    for (const folder of readKnownProjects(this.env)) if (existsSync(folder)) addProject(folder);
    const all = this.database === null ? [...projects.values()] : [this.database];
    return { atMs: this.now(), projects: all, workflows: [...workflows.values()] };
  }

  /** Whether a folder is there; that it has vanished is said once. */
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

const isProject = (folder: string): boolean => ['.raymond', '.git'].some((name) => existsSync(join(folder, name)));

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 10);
