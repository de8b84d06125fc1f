import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// CI asks for the numbers as a file, so that it can say them again as its last line.
const summary = process.env.TEST_SUMMARY;
const forCi: [string, Record<string, unknown>][] = summary ? [['json', { outputFile: summary }]] : [];

// Two test runs at the same time must not remove each other's folder.
const settings = join(tmpdir(), `raymond-tests-${process.pid}`);

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    isolate: false,
    // Tests mostly wait for processes that they have started, so every processor can have a worker.
    maxWorkers: '100%',
    // Nobody's own settings may change what is tested, also in processes that a test starts.
    env: {
      XDG_CONFIG_HOME: settings,
      XDG_STATE_HOME: join(settings, 'state'),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_SYSTEM: '/dev/null',
      GIT_CEILING_DIRECTORIES: tmpdir(),
    },
    globalSetup: 'test/remove-settings.ts',
    setupFiles: 'test/property-seed.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', ...forCi],
  },
});
