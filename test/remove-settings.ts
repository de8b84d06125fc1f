import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Commands that tests start remember the project folders they were used in: afterwards that is removed. */
export default () => () =>
  rmSync(join(tmpdir(), 'raymond-tests-have-no-settings'), { recursive: true, force: true, maxRetries: 5 });
