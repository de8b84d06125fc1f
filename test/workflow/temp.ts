import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';

/** Gives each test a folder of its own, gone when the test is over. Call it once in a test file. */
export function temporaryFolders(): (files?: Readonly<Record<string, string | Uint8Array>>) => string {
  const made: string[] = [];
  afterEach(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return (files = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'raymond-workflow-'));
    made.push(folder);
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    return folder;
  };
}
