/**
 * The policy of the sandbox, as data. `mounts.ts` makes mounts of it, `environment.ts` an environment; docs/sandbox.md says the same in
 * words, and each row is tried from inside in test/sandbox.
 */
export const SANDBOX_POLICY = {
  machine: {
    /** Empty inside, but for what the rest of the policy puts there: homes, sockets, and what other users and services keep. */
    emptied: [
      ...['/home', '/root', '/run', '/tmp', '/var/tmp', '/mnt', '/media', '/srv', '/boot'],
      ...['/var/log', '/var/mail', '/var/spool', '/var/backups'],
    ],
    /** In these folders, what only root can read is closed to root as well. */
    rootOnly: ['/etc', '/etc/ssl', '/etc/ssh', '/etc/security', '/etc/NetworkManager', '/var/lib', '/opt'],
    /** A sandbox cannot work in a folder that contains one of these. */
    vital: ['/usr', '/etc', '/tmp', '/run', '/var', '/home', '/root'],
  },

  /** Read-only where they are at the top of the working folder or of its repository: programs start what these files name. */
  project: ['.raymond', '.claude', '.claude-plugin', '.mcp.json', '.vscode', '.idea', '.envrc'],

  git: {
    /** Read-only in the folder of git. */
    common: ['config', 'hooks', 'modules', 'worktrees', 'info/attributes'],
    /** Read-only in the folder that git keeps for a worktree. */
    worktree: ['gitdir', 'commondir', 'config.worktree', 'config'],
    /** Made empty if missing, or a turn could make it. It belongs to git, and no commit has it. */
    made: ['hooks'],
  },

  /** The folder of Claude Code, for prompts only. What is named nowhere here is read-only. */
  claude: {
    /** Claude Code replaces the file when it renews its token, so that its folder must be writable; not if it has one of these keys. */
    credentials: '.credentials.json',
    keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    /** What the user has typed, also elsewhere. */
    closed: ['history.jsonl'],
    /** Conversations: empty but for those of this folder. */
    conversations: 'projects',
    /** Empty, and nothing lasts: pids inside repeat, and what is written here may be run outside. */
    thrownAway: [
      ...['sessions', 'shell-snapshots', 'session-env', 'file-history', 'todos', 'tasks', 'teams', 'jobs', 'daemon'],
      ...['debug', 'ide', 'telemetry', 'statsig', 'cache', 'uploads', 'backups', 'paste-cache', 'usage-data', 'plans'],
    ],
    /** Read-only, and made empty if missing, so that no turn makes them: they name programs, or tell the model what to do. */
    readOnly: {
      files: { 'settings.json': '{}\n', 'settings.local.json': '{}\n', 'CLAUDE.md': '' },
      folders: [
        'agents',
        'commands',
        'skills',
        'plugins',
        'hooks',
        'rules',
        'output-styles',
        'workflows',
        'agent-memory',
      ],
    },
  },

  environment: {
    /** Never handed on: ways to services of the user, and folders that are not there. */
    removed: [
      ...['SSH_AUTH_SOCK', 'SSH_AGENT_PID', 'GPG_AGENT_INFO', 'DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY'],
      ...['DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'TMPDIR', 'TMP', 'TEMP', 'CLAUDE_CODE_TMPDIR', 'DOCKER_HOST'],
      ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'FTP_PROXY', 'NO_PROXY'],
    ],
    removedPrefixes: ['VSCODE_', 'TMUX', 'GIT_CONFIG_'],
    /** The keys of Claude Code, which prompts get and scripts do not. */
    claudePrefixes: ['ANTHROPIC_', 'CLAUDE_'],
  },

  /** The hosts of Claude Code, which prompts reach and scripts do not: the API, and where a token is renewed. */
  claudeHosts: ['api.anthropic.com:443', 'platform.claude.com:443', 'console.anthropic.com:443', 'claude.ai:443'],
} as const;
