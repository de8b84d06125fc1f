import { EXIT, RaymondError } from '../../errors.ts';

/** Checks the address of a database. Its password must not get into any message, so none repeats it. */
export function checkAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  const isPostgres = url !== null && ['postgres:', 'postgresql:'].includes(url.protocol);
  if (isPostgres && url.pathname.length > 1 && canDecode(url) && hasPort(url)) return url;
  throw new RaymondError('The address of the database is not one of PostgreSQL.', {
    exitCode: EXIT.usage,
    hint: 'Write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with every special character of the password as %XX.',
  });
}

/** The package pg waits without end for a port that there cannot be. */
function hasPort({ searchParams }: URL): boolean {
  const port = searchParams.get('port');
  return port === null || (/^\d{1,5}$/.test(port) && Number(port) <= 65_535);
}

/** Every part is decoded on the way to the database, which a `%` without two digits and a NUL character would break. */
function canDecode({ username, password, host, pathname, search }: URL): boolean {
  try {
    return ![username, password, host, pathname, search].some((part) => decodeURIComponent(part).includes('\0'));
  } catch {
    return false;
  }
}

/** A database as messages name it: without user and password. */
export function describeAddress(address: string): string {
  const { host, pathname } = checkAddress(address);
  return `${host === '' ? 'localhost' : host}${decodeURIComponent(pathname)}`;
}
