import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { Problem } from './problem.ts';

/** The access rules of a server: its host names, and the token that every request must have. */
export interface AccessRules {
  readonly token: string;
  readonly isOwnName: (host: string) => boolean;
}

/** The name of the cookie that holds the token after the first visit. */
const COOKIE = 'raymond';

/**
 * Makes the check of the `Host` that a request names. Names of other domains are refused even if they lead here (DNS
 * rebinding); a server that listens everywhere is reached by its addresses and by the name of the machine.
 */
export function createNameCheck(host: string, port: number): (host: string) => boolean {
  const names = isLoopback(host)
    ? ['127.0.0.1', 'localhost', '::1']
    : [host.replace(/^\[|\]$/g, '').toLowerCase(), hostname().toLowerCase()];
  const isEverywhere = host === '0.0.0.0' || host === '::';
  return (given) => {
    const [, name = '', givenPort = '80'] = /^(.+?)(?::(\d+))?$/.exec(given.toLowerCase()) ?? [];
    const plain = name.replace(/^\[|\]$/g, '');
    return Number(givenPort) === port && (names.includes(plain) || (isEverywhere && isIP(plain) !== 0));
  };
}

/** True if an address can only be reached from this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

/**
 * Refuses requests that come through another name (DNS rebinding) or from a page of somebody else. Browsers send `Origin` with
 * everything that changes something, and `Sec-Fetch-Site` with everything.
 */
export function refuseForeign(headers: Headers, method: string, { isOwnName }: AccessRules): void {
  const host = headers.get('host') ?? '';
  if (!isOwnName(host))
    throw new Problem(403, 'This server is not known under that name.', {
      hint: 'Use the address that `raymond serve` printed.',
    });
  const origin = headers.get('origin');
  if (origin !== null && origin !== `http://${host}` && origin !== `https://${host}`)
    throw new Problem(403, 'Requests from other pages are refused.');
  const site = headers.get('sec-fetch-site');
  const isNavigation = method === 'GET' && headers.get('sec-fetch-mode') === 'navigate';
  if (site !== null && site !== 'same-origin' && site !== 'none' && !isNavigation)
    throw new Problem(403, 'Requests from other pages are refused.');
}

/** Refuses a request without the token, which is in a cookie or in `Authorization: Bearer`. */
export function refuseStranger(headers: Headers, { token }: AccessRules): void {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
  const given = bearer ?? readCookie(headers.get('cookie') ?? '');
  if (given !== undefined && isSame(given, token)) return;
  throw new Problem(401, given === undefined ? 'The token is missing.' : 'The token is wrong.', {
    hint: 'Open the address that `raymond serve` printed, or send `Authorization: Bearer TOKEN`.',
  });
}

/** The header that makes a browser remember the token: for this server alone, out of reach of scripts. */
export const tokenCookie = (token: string): string => `${COOKIE}=${token}; HttpOnly; SameSite=Strict; Path=/`;

/** Compares in a time that tells nothing about where two texts differ. */
export function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function readCookie(header: string): string | undefined {
  for (const part of header.split(';')) {
    const [name, value] = part.split('=', 2);
    if (name?.trim() === COOKIE) return value?.trim();
  }
  return undefined;
}

/** The headers of every response: browsers load nothing from elsewhere, frame it nowhere and guess no types. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
