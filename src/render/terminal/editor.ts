import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Everything below this line belongs to the question. */
const SCISSORS = '------------------------ >8 ------------------------';

/**
 * Lets the user edit a text in the editor that the environment names, with something to read below it. Throws if that
 * fails; the text is then as it was.
 */
export async function editText(text: string, below: string, env: NodeJS.ProcessEnv): Promise<string> {
  const editor = env.VISUAL?.trim() || env.EDITOR?.trim() || 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'raymond-answer-'));
  try {
    const file = join(folder, 'answer.md');
    await writeFile(
      file,
      `${text}\n\n${SCISSORS}\nNothing from the line above on is sent. The question is:\n\n${below}\n`,
    );
    const status = await runEditor(editor, file, env);
    if (status !== 0) throw new Error(`the editor \`${editor}\` failed (${status}); EDITOR can name another`);
    const edited = await readFile(file, 'utf8');
    const [answer = ''] = edited.replace(/\r\n?/g, '\n').split(SCISSORS, 1);
    return answer.trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs an editor on the terminal, as git does: its command may have arguments. stdout may be a file, stderr is the screen. */
const runEditor = (editor: string, file: string, env: NodeJS.ProcessEnv): Promise<number | string> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, file], { stdio: ['inherit', 2, 2], env });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
