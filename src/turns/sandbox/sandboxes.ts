import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../../core/options/options.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { EXPLICIT_BARE_REPOSITORIES, withGitSettings } from '../../git/git-settings.ts';
import { isWithin, realPathOf } from '../../git-repository.ts';
import { forwardedPorts, parseHostRule } from '../../language/host-rules.ts';
import type { Environment, ProcessCommand } from '../../process/command.ts';
import { execProgram } from '../../process/exec-program.ts';
import { findMarkedProcesses } from '../../process/marker.ts';
import { findSandbox, type SandboxDoor, type SandboxRequest, sandboxCommand } from '../../process/sandbox.ts';
import { claudeConfigDir, findSessionFile, projectFolder } from '../claude/session-file.ts';
import type { TurnSandboxes } from '../turn-context.ts';
import { checkSandbox, refuseVitalFolder } from './check.ts';
import { claudeHosts } from './claude-hosts.ts';
import { sandboxEnvironment } from './environment.ts';
import { isPlain } from './mount-table.ts';
import { type ClaudeFolder, planMounts, type SandboxScene } from './mounts.ts';
import { SANDBOX_POLICY } from './policy.ts';
import { SandboxProxy } from './proxy.ts';
import type { ProxyOrders } from './proxy-server.ts';
import { inspectWorkingFolder, type WorkingFolder } from './working-folder.ts';

/** The facts of a run that its sandboxes depend on. */
export interface SandboxedRun {
  readonly options: Options;
  readonly env: Environment;
  readonly runMarker: string;
  readonly isResumed: boolean;
  readonly startFolder: string;
  readonly worktreeFolder: (agent: string) => string;
  readonly workflowPlaces: () => readonly { readonly path: string }[];
  readonly raymond: SandboxScene['raymond'];
}

/** The port of the proxy inside. */
const PROXY_PORT = 3128;

/** Puts the commands of a run's turns into sandboxes. */
export class Sandboxes implements TurnSandboxes {
  private readonly run: SandboxedRun;
  private readonly folder: string;
  private readonly home: string | null;
  private readonly proxy: SandboxProxy;
  private readonly orders: ProxyOrders;
  private readonly known = new Map<string, WorkingFolder>();
  private readonly refused = new Map<string, Set<string>>();
  private gitConfig: Promise<string | null> | undefined;

  constructor(run: SandboxedRun) {
    this.run = run;
    this.folder = run.raymond.sandbox;
    this.home = run.env.HOME ? realPathOf(run.env.HOME) : null;
    const { sandboxHosts } = run.options;
    this.orders = { prompt: [...claudeHosts(run.env), ...sandboxHosts], script: sandboxHosts };
    this.proxy = new SandboxProxy(join(this.folder, 'net'), run.runMarker, this.orders, ({ sandbox, host }) => {
      this.refused.set(sandbox, (this.refused.get(sandbox) ?? new Set()).add(host));
    });
  }

  /** Makes sure that turns of an earlier process of Raymond still reach their hosts. */
  async adopt(): Promise<void> {
    if (!this.run.isResumed || !existsSync(join(this.folder, 'net'))) return;
    if ((await findMarkedProcesses(`${this.run.runMarker}/`)).length > 0) await this.proxy.ensure();
  }

  async check(cwd: string, agent: string): Promise<void> {
    await checkSandbox(this.rootOf(realPathOf(cwd), agent), this.run.options, this.run.env);
  }

  takeRefused(agent: string): readonly string[] {
    const hosts = [...(this.refused.get(agent) ?? [])];
    this.refused.delete(agent);
    return hosts;
  }

  async confine(command: ProcessCommand, request: SandboxRequest): Promise<ProcessCommand> {
    const { env: outer, options } = this.run;
    const programs = await findSandbox(outer);
    const { kind } = request;
    const doors = this.doorsOf(kind);
    if (doors.length > 0) await this.proxy.ensure();
    const scene = await this.sceneOf(command, request, doors.length > 0, programs.socat);
    const plan = { mounts: planMounts(scene), cwd: realPathOf(command.cwd), doors };
    const [file, ...args] = sandboxCommand(programs, plan, [command.file, ...command.args]);
    const env = sandboxEnvironment({
      env: command.env,
      outer,
      isPrompt: kind === 'prompt',
      permitted: options.sandboxEnv,
    });
    const proxies = doors.length > 0 ? proxyVariables(request.agent) : {};
    const { sandbox: _, ...rest } = command;
    // Claude Code lets root skip permissions only in a sandbox.
    const own = kind === 'prompt' ? withGitSettings({ ...env, IS_SANDBOX: '1' }, EXPLICIT_BARE_REPOSITORIES) : env;
    return { ...rest, file, args, env: { ...own, ...proxies } };
  }

  close(): Promise<void> {
    return this.proxy.close();
  }

  private doorsOf(kind: SandboxRequest['kind']): readonly SandboxDoor[] {
    const rules = this.orders[kind].flatMap((text) => parseHostRule(text) ?? []);
    if (rules.length === 0) return [];
    const ports = forwardedPorts(rules).map((port) => ({ port, socket: `port-${port}` }));
    return [{ port: PROXY_PORT, socket: 'proxy' }, ...ports];
  }

  private async sceneOf(
    command: ProcessCommand,
    { kind, agent, folders, sessions }: SandboxRequest,
    hasDoors: boolean,
    socat: string,
  ): Promise<SandboxScene> {
    const { options, env, raymond, workflowPlaces } = this.run;
    const cwd = realPathOf(command.cwd);
    const root = this.rootOf(cwd, agent);
    refuseVitalFolder(root, this.home);
    const temporary = join(this.folder, 'tmp');
    mkdirSync(temporary, { recursive: true, mode: 0o700 });
    this.gitConfig ??= this.writeGitConfig();
    const isPrompt = kind === 'prompt';
    return {
      home: this.home,
      ...this.inspect(root),
      folders: folders.map((folder) => this.resolveFolder(folder)),
      spellings: [command.cwd, this.run.startFolder, raymond.root, ...folders, ...(env.HOME ? [env.HOME] : [])],
      raymond,
      workflows: options.editWorkflows ? [] : workflowPlaces().map(({ path }) => realPathOf(path)),
      programs: [...(command.file.includes('/') ? [command.file] : []), socat],
      path: command.env.PATH ?? '',
      read: options.sandboxRead.map(realPathOf),
      write: options.sandboxWrite.map(realPathOf),
      temporary,
      gitConfig: await this.gitConfig,
      claude: isPrompt ? await prepareClaudeFolder(env, cwd, sessions) : null,
      doors: hasDoors ? this.proxy.doorsOf(kind) : null,
      isRoot: process.getuid?.() === 0,
    };
  }

  /** The folder that is writable for a turn: that of the run or the agent's own worktree, or where else the agent was permitted to work. */
  private rootOf(cwd: string, agent: string): string {
    const candidates = [this.run.worktreeFolder(agent), this.run.startFolder].map(realPathOf);
    return candidates.find((folder) => isWithin(cwd, folder)) ?? cwd;
  }

  /** A folder as the run found it first, also in an earlier process. */
  private inspect(root: string): WorkingFolder {
    const file = join(this.folder, 'folders.json');
    if (this.known.size === 0 && existsSync(file))
      for (const each of JSON.parse(readFileSync(file, 'utf8')) as readonly WorkingFolder[])
        this.known.set(each.root, each);
    const known = this.known.get(root);
    if (known !== undefined) return known;
    const inspected = inspectWorkingFolder(root);
    this.known.set(root, inspected);
    writeFileSync(file, JSON.stringify([...this.known.values()]), { mode: 0o600 });
    return inspected;
  }

  /** A folder without links; one in the working folder may not lead out of it, because a turn may have made the link. */
  private resolveFolder(folder: string): string {
    const start = realPathOf(this.run.startFolder);
    const real = realPathOf(folder);
    const isInside = isWithin(folder, this.run.startFolder) || isWithin(folder, start);
    if (isPlain(real) && (!isInside || isWithin(real, start))) return real;
    throw new RaymondError(`${folder} leads out of the working folder, to ${real}`, {
      exitCode: EXIT.failed,
      hint: 'Remove the link, then resume the run.',
    });
  }

  /** Writes the identity of the user for git, and nothing else of the user's settings. */
  private async writeGitConfig(): Promise<string | null> {
    const env = { PATH: this.run.env.PATH, HOME: this.run.env.HOME, XDG_CONFIG_HOME: this.run.env.XDG_CONFIG_HOME };
    const args = [
      'config',
      '--global',
      '--includes',
      '-z',
      '--get-regexp',
      '^(user\\.(name|email)|init\\.defaultbranch)$',
    ];
    const { stdout, exitCode } = await execProgram('git', args, { env, cwd: '/' });
    if (exitCode !== 0 || stdout === '') return null;
    const lines = stdout.split('\0').flatMap((entry) => {
      const [, section, name, value] = /^(\w+)\.(\w+)\n(.*)$/s.exec(entry) ?? [];
      return value === undefined ? [] : [`[${section}]\n\t${name} = ${JSON.stringify(value)}`];
    });
    const file = join(this.folder, 'gitconfig');
    writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
    return file;
  }
}

/** The variables by which programs find the proxy; the name of the user is that of the sandbox. */
function proxyVariables(sandbox: string): Readonly<Record<string, string>> {
  const address = `http://${encodeURIComponent(sandbox)}@127.0.0.1:${PROXY_PORT}`;
  const local = 'localhost,127.0.0.1,::1';
  const names = { HTTP_PROXY: address, HTTPS_PROXY: address, ALL_PROXY: address, NO_PROXY: local };
  return { ...names, ...Object.fromEntries(Object.entries(names).map(([name, value]) => [name.toLowerCase(), value])) };
}

/** Finds what a turn needs of the folder of Claude Code, and makes what a turn must not make. */
async function prepareClaudeFolder(env: Environment, cwd: string, sessions: readonly string[]): Promise<ClaudeFolder> {
  const { credentials, keys, readOnly } = SANDBOX_POLICY.claude;
  const dir = realPathOf(claudeConfigDir(env));
  const own = await projectFolder(dir, cwd);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const files = await Promise.all(sessions.map((session) => findSessionFile(dir, cwd, session)));
  const others = files.flatMap((file) => (file === null ? [] : [join(file, '..')]));
  const renewsToken = isPlain(join(dir, credentials)) && !keys.some((name) => env[name]);
  if (renewsToken) {
    for (const [name, text] of Object.entries(readOnly.files)) makeFile(join(dir, name), text);
    for (const name of readOnly.folders) if (!existsSync(join(dir, name))) mkdirSync(join(dir, name));
    const link = [...Object.keys(readOnly.files), ...readOnly.folders].find((name) => !isPlain(join(dir, name)));
    if (link !== undefined)
      throw new RaymondError(`${join(dir, link)} is a link, which the sandbox cannot protect`, {
        exitCode: EXIT.usage,
        hint: 'Replace it by the file itself, or sign in with a token: `claude setup-token`, then CLAUDE_CODE_OAUTH_TOKEN.',
      });
  }
  return { dir, renewsToken, conversations: [...new Set([own, ...others])] };
}

function makeFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already.
  }
}
