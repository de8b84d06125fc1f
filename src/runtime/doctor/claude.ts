import { claudeEnvironment } from '../../turns/claude/environment.ts';
import { formatClaudeVersion } from '../../turns/claude/find-claude.ts';
import { execProgram } from '../exec-program.ts';
import { errorResult, type HealthCheck, type HealthCheckResult, okResult, skippedResult } from './check.ts';

/** Whether there is a Claude Code, and one that we know how to run. */
export const checkClaudeCode: HealthCheck = async ({ findClaude }) => {
  const { path, version } = await findClaude();
  return okResult(`${formatClaudeVersion(version)} at ${path}`);
};

const AUTH_STATUS_TIMEOUT_MS = 20_000;

/** Claude Code's own words for how it is signed in, in ours. */
const SIGN_IN_METHODS: Readonly<Record<string, string>> = {
  api_key: 'with an API key',
  api_key_helper: 'with an API key from apiKeyHelper',
  oauth_token: 'with a token from the environment',
  'claude.ai': 'with a Claude account',
  third_party: 'through a cloud provider',
};

/** Whether Claude Code has something to sign in with. It tells that by itself, without asking anybody and for free. */
export const checkSignIn: HealthCheck = async ({ findClaude, cwd, env }) => {
  const program = await findClaude().catch(() => null);
  if (program === null) return null;
  const quietEnv = { ...claudeEnvironment(env), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  const result = await execProgram(program.path, ['auth', 'status'], {
    cwd,
    env: quietEnv,
    timeoutMs: AUTH_STATUS_TIMEOUT_MS,
  });
  return interpretAuthStatus(result.stdout);
};

/** Makes sense of what `claude auth status` prints. Whatever else it holds is nobody's business. */
export function interpretAuthStatus(text: string): HealthCheckResult {
  const { loggedIn, authMethod } = parseAuthStatus(text);
  if (loggedIn === true) {
    const method =
      typeof authMethod === 'string' && Object.hasOwn(SIGN_IN_METHODS, authMethod)
        ? SIGN_IN_METHODS[authMethod]
        : undefined;
    return okResult(`yes${method === undefined ? '' : `, ${method}`}`);
  }
  if (loggedIn === false)
    return errorResult(
      'no: prompts would not be answered',
      'Sign in with `claude auth login`, or set ANTHROPIC_API_KEY.',
    );
  return skippedResult('`claude auth status` does not tell');
}

function parseAuthStatus(text: string): { readonly loggedIn?: unknown; readonly authMethod?: unknown } {
  try {
    const value: unknown = JSON.parse(text.slice(text.indexOf('{')));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
