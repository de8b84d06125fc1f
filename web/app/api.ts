/** A refusal of the server, with what to do about it. */
export class ApiError extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, detail: string, hint?: string) {
    super(detail);
    this.status = status;
    this.hint = hint;
  }
}

/** Asks the server for data. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return read<T>(await fetch(`/api${path}`, signal === undefined ? {} : { signal }));
}

/** Asks the server to do something. */
export async function send<T>(method: 'POST' | 'DELETE', path: string, body: object = {}): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return read<T>(
    await fetch(`/api${path}`, { method, headers, ...(method === 'POST' && { body: JSON.stringify(body) }) }),
  );
}

/** The data of a response; throws what the server refuses. */
export async function read<T>(response: Response): Promise<T> {
  const data = (await response.json().catch(() => ({}))) as T & { detail?: string; hint?: string };
  if (response.ok) return data;
  throw new ApiError(response.status, data.detail ?? `The server answered ${response.status}.`, data.hint);
}

/** The address of a run in the API. */
export const runPath = (project: string, run: string): string =>
  `/runs/${encodeURIComponent(project)}/${encodeURIComponent(run)}`;
