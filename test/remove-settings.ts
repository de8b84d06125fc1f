import { rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';

/** Commands that tests start remember the project folders they were used in; the folder is removed afterwards. */
export default ({ config }: TestProject) =>
  () => {
    const folder = config.env.XDG_CONFIG_HOME;
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
