import { resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { openFiles } from '../../src/app/open-files.ts';
import { type RunningServer, type ServeRequest, startServer } from '../../src/server/serve.ts';
import { type CliProject, newCliProject } from '../cli/cli-project.ts';
import { checkResponse } from '../documents/check-documents.ts';

/** A server over a project, and requests to it with its token. */
export interface TestServer extends CliProject {
  readonly server: RunningServer;
  readonly origin: string;
  readonly messages: readonly string[];
  /** The id of the project. */
  readonly id: () => Promise<string>;
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  readonly get: (path: string) => Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
  readonly post: (
    path: string,
    body?: unknown,
  ) => Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
}

const CLI = resolve('dist/raymond.js');

/** Starts a server over a new project; it is closed after the test. */
export async function startTestServer(
  settings: Partial<ServeRequest> = {},
  project = newCliProject(),
): Promise<TestServer> {
  const messages: string[] = [];
  const env = { ...process.env, RAYMOND_REPLAY: 'fast', XDG_CONFIG_HOME: project.configHome };
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    roots: [project.cwd],
    cwd: project.cwd,
    env,
    openFolder: (folder) => openFiles(folder, settings.env ?? env),
    command: [process.execPath, CLI],
    version: '1.2.3',
    report: (message) => void messages.push(message),
    ...settings,
  });
  onTestFinished(() => server.close());
  const origin = `http://127.0.0.1:${server.port}`;
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(origin + path, { ...init, headers: { authorization: `Bearer ${server.token}`, ...init.headers } });
  const read = async (method: string, path: string, response: Response) => {
    const body = (await response.json()) as Record<string, unknown>;
    checkResponse(method, path, response.status, body);
    return { status: response.status, body };
  };
  return {
    ...project,
    server,
    origin,
    messages,
    request,
    get: async (path) => read('GET', path, await request(path)),
    post: async (path, body = {}) =>
      read(
        'POST',
        path,
        await request(path, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      ),
    id: async () => {
      const { projects } = (await (await request('/api/projects')).json()) as { projects: { id: string }[] };
      return projects[0]?.id ?? '';
    },
  };
}
