import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { EXIT } from '../../errors.ts';
import { createMcpServer, readMessageLines, refusalOf, TOOLS } from '../../mcp/mcp-server.ts';
import { QUESTION_TOOLS } from '../../mcp/run-tools.ts';
import type { McpContext } from '../../mcp/tool.ts';
import { readPackageVersion } from '../../package-files.ts';
import { type CommandHandler, thisCommand } from '../command.ts';
import { findDatabaseAddress, WAIT_AT_MOST_MS, withStorage } from '../open-storage.ts';

/** `raymond mcp`: lets Claude Code and other MCP clients start and read runs, over stdin and stdout, until stdin ends. */
export const handleMcp: CommandHandler = async (_, options, terminal) => {
  const { cwd, err } = terminal;
  // A turn of a run may load the same plugins as its user: it must not start runs.
  const isInsideRun = terminal.env.RAYMOND_TURN !== undefined;
  const address = isInsideRun ? null : findDatabaseAddress(options, terminal);
  return withStorage(
    address,
    terminal,
    async ({ storage, launcher, env }) => {
      const context: McpContext = {
        cwd,
        storage,
        launcher,
        env,
        command: thisCommand(),
        version: readPackageVersion(),
        now: Date.now,
      };
      const tools = options.allowAnswers === true ? [...TOOLS, ...QUESTION_TOOLS] : TOOLS;
      const lines = readMessageLines(process.stdin, (why) => {
        err(`raymond: ${why}\n`);
        process.stdout.write(refusalOf(why));
      });
      const ended = new Promise<void>((resolve) => lines.once('close', resolve));
      const handle = serveStdio(() => createMcpServer(context, isInsideRun ? [] : tools), {
        onerror: (error) => err(`${error.message}\n`),
        transport: new StdioServerTransport(lines, process.stdout, { maxBufferSize: Number.POSITIVE_INFINITY }),
      });
      await ended;
      await handle.close();
      return EXIT.completed;
    },
    WAIT_AT_MOST_MS,
  );
};
