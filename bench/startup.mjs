// How long one waits for the version, compared with a Node.js that does nothing.
import { execFileSync } from 'node:child_process';
import { figure, inTurns, median } from './harness.mjs';

export async function measureStartup({ command, quick }) {
  const { node, version } = await inTurns(quick ? 5 : 15, {
    node: async () => time(['-e', '0']),
    version: async () => time([command, '--version']),
  });
  return [
    figure('node -e 0', median(node), 'ms'),
    figure('raymond --version on top of it', median(version.map((ms, round) => ms - node[round])), 'ms', 60),
  ];
}

function time(args) {
  const start = performance.now();
  execFileSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - start;
}
