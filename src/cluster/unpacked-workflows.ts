import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noSuchRunError } from '../storage/opened-run.ts';
import type { Database } from '../storage/postgres/database.ts';
import { unpackWorkflow } from './workflow-archive.ts';

/** Puts the workflows of runs where they can be read, in a folder that is removed at the end. */
export class UnpackedWorkflows {
  private readonly database: Database;
  private root: string | undefined;

  constructor(database: Database) {
    this.database = database;
  }

  /** Unpacks the workflow of a run, as it was when the run started. */
  async find(run: string): Promise<{ readonly path: string; readonly root: string }> {
    const [row] = await this.database.query<{ hash: string; path: string; archive: Buffer }>(
      `select workflow as hash, workflow_path as path, bytes as archive from raymond.runs
       join raymond.blobs on key = 'workflow/' || workflow where id = $1`,
      [run],
    );
    if (row === undefined) throw noSuchRunError(run);
    this.root ??= mkdtempSync(join(tmpdir(), 'raymond-workflows-'));
    const path = await unpackWorkflow(this.root, row.hash, row.path, async () => row.archive);
    return { path, root: join(this.root, row.hash) };
  }

  close(): void {
    if (this.root !== undefined) rmSync(this.root, { recursive: true, force: true });
  }
}
