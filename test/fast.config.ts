import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import everything from '../vitest.config.ts';

/** Folders whose tests start Claude Code, nodes, browsers or many processes. */
const SLOW_FOLDERS = [
  'cluster',
  'combinations',
  'e2e',
  'hostile',
  'mcp',
  'process',
  'promise',
  'sandbox',
  'server',
  'storage/postgres',
];

/** Other files that take more than three seconds. */
const SLOW_FILES = `
  torture schemas doc-commands crash joins examples scripts core/fairness testing/files cli/costs
  turns/claude/real lint/linear-time core/archive core/properties core/linear-time
  cli/ask cli/stop cli/list cli/doctor cli/command cli/recover cli/night cli/worktrees cli/demo cli/say cli/completion cli/live cli/called-workflows
  storage/files/killed storage/files/load turns/workspace-turn turns/worktree-turn turns/script-environment
  storage/killed-before-settle
  testing/run-scenario testing/examples drawing/html-page app/clock-jumps schema/hostile-schemas
`.trim();

/** The inner loop: all tests but the slow ones. `npm test` runs everything. */
export default mergeConfig(
  everything,
  defineConfig({
    test: {
      exclude: [
        ...configDefaults.exclude,
        ...SLOW_FOLDERS.map((folder) => `test/${folder}/**`),
        ...SLOW_FILES.split(/\s+/).map((file) => `test/${file}.test.ts`),
      ],
    },
  }),
);
