/** A workflow on the web: a zip whose name states its SHA-256, so that nobody can exchange it. */
export interface WorkflowUrl {
  readonly url: string;
  /** The name of its file, which ends in the hash and `.zip`. */
  readonly file: string;
  readonly sha256: string;
}

/** True for a text that is meant as an address on the web and not as a path. */
export const looksLikeUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);

const HASHED_ZIP = /(?:^|[-_.])([0-9a-f]{64})\.zip$/i;
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/** Parses the address of a workflow, or says why it cannot be fetched. */
export function parseWorkflowUrl(text: string): WorkflowUrl | { readonly problem: string } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return { problem: 'it is not a valid address' };
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname)))
    return { problem: 'only https:// addresses are fetched' };
  if (url.username !== '' || url.password !== '') return { problem: 'it contains credentials' };
  const file = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  const sha256 = HASHED_ZIP.exec(file)?.[1]?.toLowerCase();
  if (sha256 === undefined || !/^[\w.-]+$/.test(file))
    return { problem: 'its file name must end in the SHA-256 of the zip, as in flow-SHA256.zip' };
  return { url: url.href, file, sha256 };
}
