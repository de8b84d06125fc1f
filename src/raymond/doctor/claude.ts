import { claudeEnvironment } from '../../turns/claude/environment.ts';
import { versionText } from '../../turns/claude/version.ts';
import { askProgram } from '../ask-program.ts';
import { type Check, type Finding, skipped, well, wrong } from './check.ts';

/** Whether there is a Claude Code, and one that we know how to run. */
export const claudeCode: Check = async ({ claude }) => {
  const { path, version } = await claude();
  return well(`${versionText(version)} at ${path}`);
};

const STATUS_TIMEOUT_MS = 20_000;

/** Claude Code's own words for how it is signed in, in ours. */
const METHODS: Readonly<Record<string, string>> = {
  api_key: 'with an API key',
  api_key_helper: 'with an API key from apiKeyHelper',
  oauth_token: 'with a token from the environment',
  'claude.ai': 'with a Claude account',
  third_party: 'through a cloud provider',
};

/** Whether Claude Code has something to sign in with. It tells that by itself, without asking anybody and for free. */
export const signedIn: Check = async ({ claude, cwd, env }) => {
  const found = await claude().catch(() => null);
  if (found === null) return null;
  const quiet = { ...claudeEnvironment(env), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  const said = await askProgram(found.path, ['auth', 'status'], { cwd, env: quiet, timeoutMs: STATUS_TIMEOUT_MS });
  return judgeStatus(said.stdout);
};

/** Makes sense of what `claude auth status` prints. Whatever else it holds is nobody's business. */
export function judgeStatus(text: string): Finding {
  const { loggedIn, authMethod } = statusIn(text);
  if (loggedIn === true) {
    const method =
      typeof authMethod === 'string' && Object.hasOwn(METHODS, authMethod) ? METHODS[authMethod] : undefined;
    return well(`yes${method === undefined ? '' : `, ${method}`}`);
  }
  if (loggedIn === false)
    return wrong('no: prompts would not be answered', 'Sign in with `claude auth login`, or set ANTHROPIC_API_KEY.');
  return skipped('`claude auth status` does not tell');
}

function statusIn(text: string): { readonly loggedIn?: unknown; readonly authMethod?: unknown } {
  try {
    const value: unknown = JSON.parse(text.slice(text.indexOf('{')));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
