import { isSecretName } from '../../language/secret-names.ts';
import { SANDBOX_POLICY } from './policy.ts';

/** A shorter value is no secret, and would be found by chance. */
const MIN_SECRET_LENGTH = 8;

/** The environment of a sandboxed turn. */
export interface SandboxEnvironment {
  /** The environment that the turn would have without a sandbox. */
  readonly env: Readonly<Record<string, string>>;
  /** The environment of Raymond itself, from which a workflow may have copied. */
  readonly outer: Readonly<Record<string, string | undefined>>;
  readonly isPrompt: boolean;
  /** Names that the user permits. */
  readonly permitted: readonly string[];
}

/** Removes secrets, under whatever name they come, and the ways to services of the user. */
export function sandboxEnvironment({ env, outer, isPrompt, permitted }: SandboxEnvironment): Record<string, string> {
  const { removed, removedPrefixes, claudePrefixes } = SANDBOX_POLICY.environment;
  const isClaudes = (name: string): boolean => claudePrefixes.some((prefix) => name.startsWith(prefix));
  const isSecret = (name: string): boolean => (isClaudes(name) ? !isPrompt : looksSecret(name));
  const secrets = Object.entries(outer).flatMap(([name, value = '']) => {
    const isKept = permitted.includes(name) || !looksSecret(name) || !isSecret(name);
    return isKept || value.length < MIN_SECRET_LENGTH ? [] : [value];
  });
  const isHandedOn = ([name, value]: [string, string]): boolean => {
    if (permitted.includes(name)) return true;
    if (removed.some((each) => each === name.toUpperCase())) return false;
    if (removedPrefixes.some((prefix) => name.startsWith(prefix)) || isSecret(name)) return false;
    return !PASSWORD_IN_ADDRESS.test(value) && !secrets.some((secret) => value.includes(secret));
  };
  return Object.fromEntries(Object.entries(env).filter(isHandedOn));
}

/** Names without a separator, too, such as PGPASSWORD: a variable too few is a question, one too many a leak. */
const looksSecret = (name: string): boolean =>
  isSecretName(name) || /passw|secret|apikey|credential|_(?:pat|pwd|auth|dsn)$/i.test(name);

const PASSWORD_IN_ADDRESS = /\w:\/\/[^\s/:@]*:[^\s/@]+@/;
