import { Readable } from 'node:stream';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isNestedTooDeep, MAX_JSON_DEPTH } from '../language/text/json.ts';
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

/** A message of a client has one line of at most so many bytes. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** Passes on the lines of a client but those that are too long or nested too deep; `refuse` hears of these. */
export function readMessageLines(input: AsyncIterable<Buffer>, refuse: (why: string) => void): Readable {
  return Readable.from(permittedLines(input, refuse), { objectMode: false });
}

/** The response to such a line. Its id is unknown, because nobody has read it. */
export const refusalOf = (message: string): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } })}\n`;

async function* permittedLines(input: AsyncIterable<Buffer>, refuse: (why: string) => void): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf('\n', start);
      const end = newline < 0 ? chunk.length : newline + 1;
      bytes += end - start;
      if (bytes > MAX_LINE_BYTES) parts = [];
      else parts.push(chunk.subarray(start, end));
      start = end;
      if (newline < 0) continue;
      const line = Buffer.concat(parts);
      if (bytes > MAX_LINE_BYTES) refuse(`a message has more than ${MAX_LINE_BYTES / 1024 / 1024} MiB`);
      else if (isNestedTooDeep(line.toString('utf8')))
        refuse(`a message is nested more than ${MAX_JSON_DEPTH} levels deep`);
      else yield line;
      parts = [];
      bytes = 0;
    }
  }
}
