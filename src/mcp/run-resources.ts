import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { writeLogs } from '../app/logs.ts';
import { readRunStatus } from '../app/status.ts';
import { createStatusDocument } from '../documents/run-document.ts';
import type { McpContext, RunResource } from './tool.ts';

const LOG_TYPE = 'text/plain';
const STATUS_TYPE = 'application/json';

/** The link to the whole log of a run. */
export const logResource = (run: string): RunResource => ({
  uri: `raymond://runs/${run}/log`,
  name: `log of ${run}`,
  description: 'The whole log of the run.',
  mimeType: LOG_TYPE,
});

/** The link to the whole status of a run. */
export const statusResource = (run: string): RunResource => ({
  uri: `raymond://runs/${run}/status`,
  name: `status of ${run}`,
  description: 'The status of the run with all its agents.',
  mimeType: STATUS_TYPE,
});

/** Registers what links lead to. */
export function registerRunResources(server: McpServer, context: McpContext): void {
  const template = (path: string): ResourceTemplate =>
    new ResourceTemplate(`raymond://runs/{run}/${path}`, { list: undefined });
  server.registerResource(
    'run-log',
    template('log'),
    { title: 'The log of a run', mimeType: LOG_TYPE },
    async ({ href }, { run }) => {
      const text = (await readLogLines(String(run), context, {})).join('\n');
      return { contents: [{ uri: href, mimeType: LOG_TYPE, text: text.slice(-MAX_RESOURCE_CHARS) }] };
    },
  );
  server.registerResource(
    'run-status',
    template('status'),
    { title: 'The status of a run', mimeType: STATUS_TYPE },
    async ({ href }, { run }) => {
      const report = await readRunStatus(String(run), context.storage);
      const text = JSON.stringify(createStatusDocument(report, report.history, context.storage.clock.now()));
      return { contents: [{ uri: href, mimeType: STATUS_TYPE, text }] };
    },
  );
}

/** The log of a very long run is cut at its beginning. */
const MAX_RESOURCE_CHARS = 8_000_000;

/** Reads the last lines of the log of a run; all of them without `tail`. */
export async function readLogLines(
  run: string,
  { cwd, storage }: Pick<McpContext, 'cwd' | 'storage'>,
  {
    agent,
    state,
    tail,
  }: { readonly agent?: string | undefined; readonly state?: string | undefined; readonly tail?: number },
): Promise<readonly string[]> {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  await writeLogs(run, {
    cwd,
    storage,
    write,
    writeMessage: write,
    ...(agent !== undefined && { agent }),
    ...(state !== undefined && { state }),
    ...(tail !== undefined && { tail }),
  });
  return lines;
}
