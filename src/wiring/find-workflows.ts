import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { isStateFile, stem } from '../language/state-names.ts';

/** The content of a folder: projects (folders with a `.raymond`) and the paths of workflows. */
export interface FoundFolders {
  readonly projects: readonly string[];
  readonly workflows: readonly string[];
}

const MAX_DEPTH = 6;
/** A folder with more is hardly one of somebody's projects: the search ends, and what was found counts. */
const MAX_FOLDERS = 20_000;
const ENTRY_NAMES: ReadonlySet<string> = new Set(['START', '1_START']);
const MANIFESTS: ReadonlySet<string> = new Set(['workflow.yaml', 'workflow.yml']);
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'vendor', 'dist', 'build', 'target', '__pycache__']);

/** How far to look, and for what. */
export interface SearchLimits {
  readonly maxFolders?: number;
  /** True if zips count as workflows. */
  readonly withZips?: boolean;
}

/**
 * Looks for workflows and projects below a folder. A workflow is a folder with an entry state or a manifest, or a YAML file with
 * `states:`. Hidden folders, links and folders of packages and build output are not searched.
 */
export async function findFolders(root: string, limits: SearchLimits = {}): Promise<FoundFolders> {
  const { maxFolders = MAX_FOLDERS, withZips = false } = limits;
  const projects: string[] = [];
  const workflows: string[] = [];
  let level = [root];
  let count = 0;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0 && count < maxFolders; depth++) {
    const below: string[] = [];
    for (const folder of level) {
      count += 1;
      if (count > maxFolders) break;
      const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
      if (entries.some((entry) => entry.isDirectory() && entry.name === '.raymond')) projects.push(folder);
      if (entries.some(isWorkflowMark)) workflows.push(folder);
      else
        for (const entry of entries)
          if (await isOneFileWorkflow(folder, entry)) workflows.push(join(folder, entry.name));
      if (withZips)
        for (const entry of entries) if (await isZip(folder, entry)) workflows.push(join(folder, entry.name));
      for (const entry of entries) if (isSearched(entry)) below.push(join(folder, entry.name));
    }
    level = below;
  }
  return { projects, workflows };
}

const MAX_ZIP_BYTES = 8 * 1024 * 1024;

async function isZip(folder: string, entry: Dirent): Promise<boolean> {
  if (!entry.isFile() || extname(entry.name).toLowerCase() !== '.zip') return false;
  const stats = await stat(join(folder, entry.name)).catch(() => null);
  return stats !== null && stats.size <= MAX_ZIP_BYTES;
}

/** True if a file makes its folder a workflow. */
const isWorkflowMark = (entry: Dirent): boolean =>
  entry.isFile() &&
  (MANIFESTS.has(entry.name) || (isStateFile(entry.name) && ENTRY_NAMES.has(stem(basename(entry.name)))));

const isSearched = (entry: Dirent): boolean =>
  entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED.has(entry.name);

const MAX_YAML_BYTES = 1 << 20;

async function isOneFileWorkflow(folder: string, entry: Dirent): Promise<boolean> {
  if (!entry.isFile() || !['.yaml', '.yml'].includes(extname(entry.name))) return false;
  const text = await readFile(join(folder, entry.name), 'utf8').catch(() => '');
  return text.length <= MAX_YAML_BYTES && /^[\s{]*["']?states["']?\s*:/m.test(text);
}
