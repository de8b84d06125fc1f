import { parseHostRule } from '../../language/host-rules.ts';
import type { Environment } from '../../process/command.ts';
import { SANDBOX_POLICY } from './policy.ts';

/** The hosts that Claude Code needs: those of Anthropic, or the one that the user has named in their place. */
export function claudeHosts({ ANTHROPIC_BASE_URL: address }: Environment): readonly string[] {
  const { claudeHosts: usual } = SANDBOX_POLICY;
  if (!address || !URL.canParse(address)) return usual;
  const { hostname, port, protocol } = new URL(address);
  const host = `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`;
  return parseHostRule(host) === undefined ? usual : [...usual, host];
}
