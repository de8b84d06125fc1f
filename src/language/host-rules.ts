/** A host that a turn in a sandbox may reach, as its rule names it. */
export interface HostRule {
  /** In lower case, without `*.` before it. */
  readonly name: string;
  /** True if the rule covers all names that end in this one, but not the name itself. */
  readonly isWildcard: boolean;
  /** The only port; null for those of the web. */
  readonly port: number | null;
}

/** The ports of a host whose rule names none. */
const WEB_PORTS: readonly number[] = [80, 443];

const LABEL = '[a-zA-Z0-9_](?:[a-zA-Z0-9_-]*[a-zA-Z0-9_])?';

/** The rules as a pattern for JSON Schema. */
export const HOST_RULE_PATTERN = `^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*(?::[1-9][0-9]{0,4})?$`;

/** The forms of a rule, for messages. */
export const HOST_RULE_FORMS = 'hosts such as registry.npmjs.org, *.example.com, example.com:8443 or localhost:5432';

/** Reads a rule such as `registry.npmjs.org`, `*.example.com`, `example.com:8443` or `localhost:5432`; undefined if it is none. */
export function parseHostRule(text: string): HostRule | undefined {
  if (!new RegExp(HOST_RULE_PATTERN).test(text)) return undefined;
  const [host = '', digits] = text.toLowerCase().split(':');
  const port = digits === undefined ? null : Number(digits);
  const isWildcard = host.startsWith('*.');
  const name = isWildcard ? host.slice(2) : host;
  const isOneName = name !== '' && (!isWildcard || name.includes('.'));
  // All services of this machine at once are never meant.
  const isPort = port === null ? !isLoopbackName(name) : port <= 65_535;
  return isOneName && isPort && !(isWildcard && isLoopbackName(name)) ? { name, isWildcard, port } : undefined;
}

/** True if a name means this machine wherever it is looked up. */
const isLoopbackName = (name: string): boolean =>
  /^(?:localhost|(?:.*\.)localhost|127(?:\.\d+){0,3}|0(?:\.0){0,3})$/.test(name.toLowerCase().replace(/\.$/, ''));

/** The ports of this machine that these rules name: a turn reaches them under the same number. */
export const forwardedPorts = (rules: readonly HostRule[]): readonly number[] => [
  ...new Set(rules.flatMap(({ name, port }) => (port !== null && isLoopbackName(name) ? [port] : []))),
];

/** True if one of these rules covers a host and port. */
export function isNamedHost(rules: readonly HostRule[], host: string, port: number): boolean {
  const wanted = host.toLowerCase().replace(/\.$/, '');
  return rules.some(
    ({ name, isWildcard, port: only }) =>
      (isWildcard ? wanted.endsWith(`.${name}`) : wanted === name) &&
      (only === null ? WEB_PORTS.includes(port) : only === port),
  );
}
