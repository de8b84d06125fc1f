/** Something that a turn tries from inside, in the language of a shell. */
export interface Attempt {
  /** The row of the policy that it is about. */
  readonly row: 'writes' | 'read-only' | 'reads' | 'reaches' | 'environment' | 'processes' | 'kernel';
  readonly name: string;
  readonly command: string;
  /** True if it must work. Otherwise it must fail. */
  readonly works?: true;
  /** The kind of turn for which it is so; for the other kind, the opposite holds. */
  readonly only?: 'prompt' | 'script';
}

const works = (row: Attempt['row'], name: string, command: string): Attempt => ({ row, name, command, works: true });
const fails = (row: Attempt['row'], name: string, command: string): Attempt => ({ row, name, command });

/**
 * Every row of the policy, as attempts. They get these variables: OUTSIDE (a folder beside the project), HOME, PORT (a service of this machine that
 * nobody has named), NAMED_PORT (one that the user has named), VICTIM (a process outside).
 */
export const ATTEMPTS: readonly Attempt[] = [
  works('writes', 'a file of the project', 'echo new > made.txt'),
  works('writes', 'a folder of the project', 'mkdir sub && mv sub sub2 && rmdir sub2'),
  works('writes', '/tmp', 'echo new > /tmp/made.txt'),
  works('writes', 'the folder of the task', 'echo new > "$RAYMOND_TASK_FOLDER/made.txt"'),
  works('writes', 'the folder of the run', 'echo new > "$RAYMOND_RUN_FOLDER/made.txt"'),
  works('writes', 'a commit', 'git add made.txt && git commit -qm made'),
  works('writes', 'a branch', 'git switch -qc other && git switch -q -'),
  works('writes', 'a folder that the user has named', 'echo new > "$WRITABLE/made.txt"'),
  fails('writes', 'a folder beside the project', 'echo new > "$OUTSIDE/made.txt"'),
  fails('writes', 'a file through a link', 'ln -sfn "$OUTSIDE" link && echo new > link/made.txt'),
  fails('writes', 'a folder above the project', 'echo new > ../made.txt && [ -e "$OUTSIDE" ]'),
  fails('writes', '/etc', 'echo new > /etc/raymond-was-here'),
  fails('writes', '/usr', 'echo new > /usr/raymond-was-here'),
  fails('writes', 'a file that the user may read', 'echo new > "$READABLE/made.txt"'),
  fails('writes', 'a device', 'mknod made.device b 8 0'),

  fails('read-only', 'the settings of git', 'echo "[core]" >> .git/config'),
  fails('read-only', 'the settings of git, by git', 'git config core.fsmonitor "touch /tmp/run"'),
  fails('read-only', 'the settings of git, by a rename', 'cp .git/config c && mv c .git/config'),
  fails('read-only', 'the settings of git, by a link', 'ln -f made.txt .git/config || ln -sf /tmp/c .git/config'),
  fails('read-only', 'a hook of git', 'echo id > .git/hooks/post-commit'),
  fails('read-only', 'the hooks of git, moved away', 'mv .git/hooks .git/h && mkdir .git/hooks'),
  fails('read-only', 'the folder of git, moved away', 'mv .git git2'),
  fails('read-only', 'the folder of git, removed', 'rmdir .git/hooks'),
  fails('read-only', 'a hook that the settings of git name', 'echo id > .githooks/pre-push'),
  fails('read-only', 'the folder of that hook, moved away', 'mv .githooks h'),
  fails('read-only', 'settings of Claude Code', 'echo {} > .claude/settings.json'),
  fails('read-only', 'a new file of Claude Code', 'echo {} > .claude/settings.local.json'),
  fails('read-only', 'the folder of Claude Code, moved away', 'mv .claude c && mkdir .claude'),
  fails('read-only', 'servers of Claude Code', 'echo {} > .mcp.json'),
  fails('read-only', 'servers of Claude Code, by a rename', 'echo {} > m && mv -f m .mcp.json'),
  fails('read-only', 'tasks of an editor', 'echo {} > .vscode/tasks.json'),
  fails('read-only', 'direnv', 'echo id > .envrc'),
  fails('read-only', 'settings of Raymond', 'echo > .raymond/config.toml'),
  fails('read-only', 'the runs of Raymond', 'echo > .raymond/runs/made'),
  fails('read-only', 'the journal of the run', 'echo >> .raymond/runs/*/journal.jsonl'),
  fails('read-only', 'a request to the run', 'mkdir -p .raymond/runs/*/inbox/x'),
  fails('read-only', 'the folder of Raymond, moved away', 'mv .raymond r'),
  fails('read-only', 'the workflow', 'echo id >> "$WORKFLOW/1_START.sh"'),
  fails('read-only', 'a new state of the workflow', 'echo id > "$WORKFLOW/MADE.md"'),
  fails('read-only', 'the folder around the workflow, moved away', 'mv flows f'),
  fails(
    'read-only',
    'the same in a namespace of its own',
    'unshare -Urm sh -c "umount .git/config || mount -o remount,rw,bind .git/config"',
  ),

  works('reads', 'programs', 'node --version && git --version'),
  works('reads', 'what the user has named', '[ "$(cat "$READABLE/file")" = readable ]'),
  works('reads', 'the identity for commits', '[ "$(git config user.email)" = me@example.com ]'),
  fails('reads', 'keys of ssh', 'cat "$HOME/.ssh/id_rsa"'),
  fails('reads', 'tokens in the settings of git', 'grep -r made-up-secret "$HOME"'),
  fails('reads', 'a folder beside the project', 'cat "$OUTSIDE/secret"'),
  fails('reads', 'a file through a link', 'ln -sfn "$HOME/.ssh" link && cat link/id_rsa'),
  fails(
    'reads',
    'a file through the folders of other processes',
    'cat /proc/1/root"$HOME"/.ssh/id_rsa || cat /proc/*/root"$HOME"/.ssh/id_rsa',
  ),
  fails(
    'reads',
    'a file through open files',
    'cat /proc/self/fd/*/../.ssh/id_rsa || cat /proc/*/cwd/../home/.ssh/id_rsa',
  ),
  fails('reads', 'passwords', 'cat /etc/shadow'),
  fails('reads', 'old passwords', 'cat /etc/shadow- /etc/gshadow'),
  fails('reads', 'private keys of the machine', 'ls /etc/ssl/private/*'),
  fails('reads', '/run', '[ -n "$(ls -A /run | grep -vx -e raymond -e mount)" ]'),
  fails('reads', 'the folder /tmp of others', '[ -e "$OUTSIDE" ]'),
  fails('reads', 'other projects of Claude Code', 'grep -r made-up-transcript "$HOME"'),
  fails('reads', 'other runs', '[ -e .raymond/runs/other-run ]'),
  fails('reads', 'the sockets of the sandbox', 'ls .raymond/runs/*/sandbox/net'),
  fails('reads', 'the disk itself', 'head -c1 /dev/vda || head -c1 /dev/sda || head -c1 /dev/nvme0n1'),
  fails('reads', 'the memory', 'head -c1 /dev/mem || head -c1 /proc/kcore'),

  fails('reaches', 'a service of this machine', 'exec 3<>/dev/tcp/127.0.0.1/$PORT'),
  works('reaches', 'a port that the user has named', 'exec 3<>/dev/tcp/127.0.0.1/$NAMED_PORT'),
  fails('reaches', 'another address of this machine', 'exec 3<>/dev/tcp/$(hostname -I | cut -d" " -f1)/$PORT'),
  fails('reaches', 'a Unix socket of the project', 'printf x | timeout 5 socat - UNIX-CONNECT:service.sock'),
  fails('reaches', 'a Unix socket elsewhere', 'printf x | timeout 5 socat - UNIX-CONNECT:"$OUTSIDE/service.sock"'),
  fails('reaches', 'an abstract socket', 'printf x | timeout 5 socat - ABSTRACT-CONNECT:"$ABSTRACT"'),
  fails('reaches', 'a host that nobody has named', 'curl -sSf --max-time 5 http://example.com/'),
  fails('reaches', 'the same by CONNECT', 'curl -sSf --max-time 5 https://example.com/'),
  fails('reaches', 'this machine through the proxy', 'curl -sSf --max-time 5 --noproxy "" http://127.0.0.1:$PORT/'),
  fails('reaches', 'this machine by a name', 'curl -sSf --max-time 5 --noproxy "" http://localhost:$PORT/'),
  fails('reaches', 'the door of the other kind of turn', 'ls /run/raymond/../raymond/../script || ls /run/prompt'),
  fails('reaches', 'a name server', 'getent hosts example.com'),
  { row: 'reaches', name: 'the API', command: 'exec 3<>/dev/tcp/127.0.0.1/$API_PORT', works: true, only: 'prompt' },

  fails('environment', 'a token', '[ -n "$GITHUB_TOKEN" ]'),
  fails('environment', 'a token under another name', 'env | grep -q made-up-token'),
  fails('environment', 'a password in an address', '[ -n "$DATABASE_URL" ]'),
  works('environment', 'a token that the user has named', '[ "$NPM_TOKEN" = made-up-npm ]'),
  fails('environment', 'the agent of ssh', '[ -n "$SSH_AUTH_SOCK" ]'),
  fails('environment', 'the display', '[ -n "$DISPLAY$WAYLAND_DISPLAY$DBUS_SESSION_BUS_ADDRESS$XDG_RUNTIME_DIR" ]'),
  fails(
    'environment',
    'the environment of the processes outside',
    'cat /proc/*/environ | tr "\\0" "\\n" | grep made-up-token',
  ),
  works('environment', 'plain variables', '[ "$PLAIN" = plain ]'),
  {
    row: 'environment',
    name: 'the key of Claude Code',
    command: '[ -n "$ANTHROPIC_API_KEY" ]',
    works: true,
    only: 'prompt',
  },

  fails('processes', 'a process outside', 'kill -0 $VICTIM'),
  fails(
    'processes',
    'the folder of a process outside',
    '[ "$(tr "\\0" " " < /proc/$VICTIM/cmdline)" = "sleep 1000 " ]',
  ),
  works('processes', 'a process that outlives the turn', 'setsid sleep 999 >/dev/null 2>&1 &'),

  fails('kernel', 'a setting', 'v=$(cat /proc/sys/kernel/core_pattern) && echo "$v" > /proc/sys/kernel/core_pattern'),
  fails(
    'kernel',
    'a setting, in a namespace of its own',
    `unshare -Urpmf --mount-proc sh -c 'v=$(cat /proc/sys/kernel/core_pattern) && echo "$v" > /proc/sys/kernel/core_pattern'`,
  ),
  fails('kernel', 'its keys', 'echo h > /proc/sysrq-trigger'),
  fails('kernel', 'its hostname', 'hostname other'),
  fails('kernel', 'groups of processes', 'mkdir /sys/fs/cgroup/made'),
  fails('kernel', 'a mount', 'mount -t tmpfs none /mnt'),
  fails('kernel', 'the root folder, writable', 'mount -o remount,rw /'),
  fails('kernel', 'what is hidden, shown again', 'umount /home || umount /root || umount /run'),
  fails(
    'kernel',
    'the same in a namespace of its own',
    'unshare -Urm sh -c "umount -l /home || umount -l /root || umount -l /run"',
  ),
  fails('kernel', 'more rights', 'sudo -n true || su -c true < /dev/null || setpriv --reuid=1 true'),
];
