import { EXIT, RaymondError } from '../errors.ts';

/** Checks the address of a database. Its password must not get into any message, so none repeats it. */
export function checkAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url !== null && ['postgres:', 'postgresql:'].includes(url.protocol) && url.pathname.length > 1) return url;
  throw new RaymondError('The address of the database is not one of PostgreSQL.', {
    exitCode: EXIT.usage,
    hint: 'Write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with every special character of the password as %XX.',
  });
}

/** A database as messages name it: without user and password. */
export function describeAddress(address: string): string {
  const { host, pathname } = checkAddress(address);
  return `${host === '' ? 'localhost' : host}${decodeURIComponent(pathname)}`;
}
