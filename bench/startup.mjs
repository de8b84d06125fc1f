// How long one waits for the version, and for a run of one script that does nothing, compared with a Node.js that does nothing.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figure, inTurns, median } from './harness.mjs';

export async function measureStartup({ command, workshop, quick }) {
  const workflow = join(workshop(), 'workflow');
  mkdirSync(workflow);
  writeFileSync(join(workflow, 'START.sh'), "echo '<result>done</result>'\n");
  const { node, version, run } = await inTurns(quick ? 5 : 15, {
    node: async () => time(['-e', '0']),
    version: async () => time([command, '--version']),
    run: async () => time([command, 'run', workflow], workshop()),
  });
  return [
    figure('node -e 0', median(node), 'ms'),
    figure('raymond --version on top of it', median(version.map((ms, round) => ms - node[round])), 'ms', 60),
    figure('raymond run of one script on top of it', median(run.map((ms, round) => ms - node[round])), 'ms'),
    figure('raymond run of one script, over it', median(run.map((ms, round) => ms / node[round])), 'x', 2.5),
  ];
}

function time(args, cwd) {
  const start = performance.now();
  execFileSync(process.execPath, args, { stdio: 'ignore', cwd });
  return performance.now() - start;
}
