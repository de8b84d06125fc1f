import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE_MODE } from './files.ts';

const GIT_IGNORE_TEXT = `# Runs hold prompts and answers: they are nobody else's. The config file may be shared.
*
!config.toml
!config.schema.json
`;

/** Keeps runs out of a repository whose users commit everything. A file that is there is the user's, and none is no harm. */
export function writeGitIgnore(root: string): void {
  try {
    writeFileSync(join(root, '.gitignore'), GIT_IGNORE_TEXT, { flag: 'wx', mode: PRIVATE_FILE_MODE, encoding: 'utf8' });
  } catch {}
}
