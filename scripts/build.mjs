// Builds dist/ from src/: tsc does the work. What browsers get is copied, and the bin needs its executable bit.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync('tsc', ['-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
if (status !== 0) process.exit(status ?? 1);
cpSync('src/drawing/web', 'dist/drawing/web', { recursive: true });
chmodSync('dist/cli/main.js', 0o755);
