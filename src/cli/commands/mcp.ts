import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { EXIT } from '../../errors.ts';
import { createMcpServer, TOOLS } from '../../mcp/mcp-server.ts';
import { QUESTION_TOOLS } from '../../mcp/question-tools.ts';
import type { McpContext } from '../../mcp/tool.ts';
import { readPackageVersion } from '../../package-files.ts';
import { controlFiles } from '../../runtime/run-control.ts';
import type { CommandHandler } from '../command.ts';
import { findDatabaseAddress, WAIT_AT_MOST_MS, withDatabase, withRunPlace } from '../database-option.ts';
import { thisCommand } from '../this-command.ts';

/** `raymond mcp`: lets Claude Code and other MCP clients start and read runs, over stdin and stdout, until stdin ends. */
export const handleMcp: CommandHandler = async (_, options, terminal) => {
  const { cwd, err } = terminal;
  // A turn of a run may load the same plugins as its user: it must not start runs.
  const isInsideRun = terminal.env.RAYMOND_TURN !== undefined;
  const address = isInsideRun ? null : findDatabaseAddress(options, terminal);
  return withRunPlace(
    address,
    terminal,
    async (place) => {
      const { env, database } = withDatabase(terminal.env, address, place);
      const control = database?.control ?? controlFiles(cwd, env);
      const context: McpContext = {
        cwd,
        control,
        env,
        command: thisCommand(),
        version: readPackageVersion(),
        now: Date.now,
      };
      const tools = options.allowAnswers === true ? [...TOOLS, ...QUESTION_TOOLS] : TOOLS;
      const handle = serveStdio(() => createMcpServer(context, isInsideRun ? [] : tools), {
        onerror: (error) => err(`${error.message}\n`),
      });
      await new Promise<void>((resolve) => {
        process.stdin.once('end', resolve);
        process.stdin.once('close', resolve);
      });
      await handle.close();
      return EXIT.completed;
    },
    WAIT_AT_MOST_MS,
  );
};
