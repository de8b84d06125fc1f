import { join } from 'node:path';
import type { ProcessCommand } from './command.ts';

/** The FIFO of a guarded command, in its folder. */
export const guardedInput = (dir: string): string => join(dir, 'in');

/**
 * Puts a guard between the wrapper and a command that reads lines of JSON from us: our pipe may end, the command's input does not
 * while it is at work. Whoever opens the FIFO reaches the command.
 *
 * 1. `tee` hands our pipe on into the FIFO, and keeps what was sent.
 * 2. When the pipe ends, the FIFO stays open until each prompt that was sent is echoed and the last of them has its result.
 * 3. After an hour without output the command gets SIGTERM. It needs nothing of us to end.
 * 4. The guard outlives a signal to its group, as the wrapper does: it ends with the command, with its exit status.
 */
export const guardCommand = (dir: string, command: ProcessCommand): ProcessCommand => ({
  ...command,
  file: '/bin/sh',
  args: ['-c', SCRIPT, 'guard', dir, command.file, ...command.args],
});

const SCRIPT = `trap : HUP INT QUIT TERM
d=$1
shift
mkfifo -m 600 "$d/in" || exit 126
exec 3<&0
{
  trap '' HUP INT
  exec 8<>"$d/in"
  tee "$d/sent" <&3 >&8 2>/dev/null &
  copier=$!
  exec 3<&-
  trap 'kill $copier 2>/dev/null; exit' TERM
  wait $copier
  quiet=0
  size=-1
  until [ "$(grep -c '^{"type":"user"' "$d/sent")" -le "$(grep -c '"isReplay":true' "$d/stdout")" ] &&
    awk '/"type":"result"/ {r = NR} /"type":"assistant"|"isReplay":true|"type":"control_request"/ {a = NR} END {exit r < a}' "$d/stdout"
  do
    sleep 1
    now=$(wc -c <"$d/stdout")
    if [ "$now" = "$size" ]; then quiet=$((quiet + 1)); else quiet=0; fi
    size=$now
    [ $quiet -lt 3600 ] || { kill -TERM 0; exit; }
  done
} >/dev/null 2>&1 &
keeper=$!
exec 3<&-
"$@" <"$d/in"
status=$?
kill $keeper 2>/dev/null
exit $status
`;
