import type { ProblemDocument } from '../documents/types.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { sanitize } from '../render/sanitize.ts';
import { AnswerRefused } from '../wiring/handed-files.ts';

/** A part of a request that is wrong: its path, such as `body.budget_usd`, and why. */
export interface RequestFault {
  readonly path: string;
  readonly message: string;
}

/** A refusal of a request: a status of HTTP, a sentence, and what to do about it. */
export class Problem extends Error {
  readonly status: number;
  readonly hint: string | undefined;
  readonly faults: readonly RequestFault[];

  constructor(status: number, message: string, options: { hint?: string; faults?: readonly RequestFault[] } = {}) {
    super(message);
    this.name = 'Problem';
    this.status = status;
    this.hint = options.hint;
    this.faults = options.faults ?? [];
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not signed in',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Not possible now',
  413: 'Too large',
  415: 'Wrong content type',
  422: 'Not valid',
  500: 'Internal error',
  503: 'Busy',
};

/** The response for a refusal, as `application/problem+json`. */
export function problemResponse({ status, message, hint, faults }: Problem): Response {
  const document: ProblemDocument = {
    type: 'about:blank',
    title: TITLES[status] ?? 'Error',
    status,
    detail: sanitize(message),
    ...(hint !== undefined && { hint: sanitize(hint) }),
    ...(faults.length > 0 && { errors: faults }),
  };
  return new Response(`${JSON.stringify(document)}\n`, {
    status,
    headers: { 'content-type': 'application/problem+json; charset=utf-8' },
  });
}

/** The same for a person with a browser. */
export function problemPage({ status, message, hint = '' }: Problem): Response {
  const escapeHtml = (text: string): string => sanitize(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const head =
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">';
  const next = status === 404 ? '<a href="/">All runs</a>' : escapeHtml(hint).replace(/`([^`]*)`/g, '<code>$1</code>');
  const html = `<!doctype html>${head}<title>Raymond</title><h1>${escapeHtml(message)}</h1><p>${next}</p>\n`;
  return new Response(html, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}

/** Makes a refusal of whatever was thrown. A bug says nothing about itself to the outside; `report` hears of it. */
export function toProblem(error: unknown, report: (error: unknown) => void): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof RaymondError) {
    const faults = error instanceof AnswerRefused && error.reason === 'empty' ? [EMPTY_ANSWER] : [];
    return new Problem(statusOf(error), error.message, {
      faults,
      ...(error.hint !== undefined && { hint: error.hint }),
    });
  }
  report(error);
  return new Problem(500, 'Something went wrong in Raymond itself.', {
    hint: 'The terminal of the server has the details.',
  });
}

const EMPTY_ANSWER: RequestFault = { path: 'body.text', message: 'it is empty' };

const REFUSED_ANSWER: Readonly<Record<AnswerRefused['reason'], number>> = {
  empty: 422,
  wrong_choice: 422,
  wrong_files: 422,
  too_large: 413,
  over: 409,
  missing: 404,
};

function statusOf(error: RaymondError): number {
  const { message, exitCode } = error;
  if (error instanceof AnswerRefused) return REFUSED_ANSWER[error.reason];
  if (message.startsWith('no such run') || message.startsWith('the files of turn')) return 404;
  if (/^The database \S+ cannot (be reached|work just now)/.test(message)) return 503;
  return exitCode === EXIT.usage ? 409 : 422;
}
