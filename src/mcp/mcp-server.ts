import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { registerRunResources } from './run-resources.ts';
import { RUN_TOOLS } from './run-tools.ts';
import { callTool, type McpContext, type Tool } from './tool.ts';
import { WORKFLOW_TOOLS } from './workflow-tools.ts';

/** All tools, in the order in which they are listed. */
export const TOOLS: readonly Tool[] = [...WORKFLOW_TOOLS, ...RUN_TOOLS];

const INSTRUCTIONS =
  'Raymond runs Claude Code through workflows of prompts and scripts. A run continues by itself after it was started: ask for its status, ' +
  'or await it. Questions that a run asks are for a person: tell the user about them instead of answering.';

/** Creates the MCP server of a project folder, with these tools. */
export function createMcpServer(context: McpContext, tools: readonly Tool[]): McpServer {
  const server = new McpServer({ name: 'raymond', version: context.version }, { instructions: INSTRUCTIONS });
  for (const tool of tools) {
    const { name, title, description, input, output, readOnly } = tool;
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: z.strictObject(input),
        outputSchema: z.looseObject(output),
        annotations: { readOnlyHint: readOnly, destructiveHint: tool.destructive ?? false, openWorldHint: !readOnly },
      },
      (args) => callTool(tool, args, context),
    );
  }
  if (tools.length > 0) registerRunResources(server, context);
  return server;
}
