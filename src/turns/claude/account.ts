import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { tryParseJson } from '../../language/text/json.ts';
import type { Environment } from '../../process/command.ts';
import { claudeConfigDir } from './session-file.ts';

/** The login in Claude Code's settings file. */
const LOGIN = z.object({ oauthAccount: z.object({ accountUuid: z.string().min(1) }) });

/** Variables with which Claude Code uses no subscription. */
const OTHER_BILLING = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
];

/** True if Claude Code would use a subscription with this environment, if there is one. */
export const usesSubscription = (env: Environment): boolean => OTHER_BILLING.every((name) => !env[name]);

/**
 * A short name for the account that Claude Code uses, from which nothing can be learned about it: a digest of the token it was
 * given, else of the account that is logged in, else of its settings folder.
 */
export async function findAccountKey(env: Environment): Promise<string> {
  const { CLAUDE_CODE_OAUTH_TOKEN: token } = env;
  if (token) return digest(`token ${token}`);
  const folder = claudeConfigDir(env);
  const file = join(env.CLAUDE_CONFIG_DIR ? folder : dirname(folder), '.claude.json');
  const text = await readFile(file, 'utf8').catch(() => '');
  const login = LOGIN.safeParse(tryParseJson(text)).data;
  return digest(login === undefined ? `folder ${folder}` : `account ${login.oauthAccount.accountUuid}`);
}

const digest = (text: string): string =>
  createHash('sha256').update(`raymond quota ${text}`).digest('hex').slice(0, 12);
