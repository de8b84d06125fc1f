import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { EXIT } from '../../errors.ts';
import { createMcpServer, TOOLS } from '../../mcp/mcp-server.ts';
import { QUESTION_TOOLS } from '../../mcp/question-tools.ts';
import { readPackageVersion } from '../../package-files.ts';
import type { CommandHandler } from '../command.ts';
import { thisCommand } from '../this-command.ts';

/** `raymond mcp`: lets Claude Code and other MCP clients start and read runs, over stdin and stdout, until stdin ends. */
export const handleMcp: CommandHandler = async (_, { allowAnswers }, { cwd, env, err }) => {
  // A turn of a run may load the same plugins as its user: it must not start runs.
  const isInsideRun = env.RAYMOND_TURN !== undefined;
  const context = { cwd, env, command: thisCommand(), version: readPackageVersion(), now: Date.now };
  const tools = allowAnswers === true ? [...TOOLS, ...QUESTION_TOOLS] : TOOLS;
  const handle = serveStdio(() => createMcpServer(context, isInsideRun ? [] : tools), {
    onerror: (error) => err(`${error.message}\n`),
  });
  await new Promise<void>((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
  });
  await handle.close();
  return EXIT.completed;
};
