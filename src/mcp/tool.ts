import type { z } from 'zod';
import type { RunPlace } from '../app/launcher.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { hasNul } from '../language/text/json.ts';
import { sanitize } from '../render/sanitize.ts';

/** The dependencies of the tools. */
export interface McpContext extends RunPlace {
  /** The folder in which the client works. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly command: readonly [string, ...string[]];
  readonly version: string;
  readonly now: () => number;
}

/** A link to something that is too large for the answer of a tool. */
export interface RunResource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
}

/** A tool that an agent can use. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Readonly<Record<string, z.ZodType>>;
  readonly output: Readonly<Record<string, z.ZodType>>;
  /** True if it only reads. */
  readonly readOnly: boolean;
  /** True if it may end or remove something. */
  readonly destructive?: boolean;
  /** Where to read what an answer leaves out. */
  readonly links?: (data: Readonly<Record<string, unknown>>) => readonly RunResource[];
  readonly call: (args: Readonly<Record<string, unknown>>, context: McpContext) => Promise<Record<string, unknown>>;
}

interface ToolSpec<Input extends Record<string, z.ZodType>> extends Omit<Tool, 'input' | 'call'> {
  readonly input: Input;
  readonly call: (
    args: { readonly [Key in keyof Input]: z.infer<Input[Key]> },
    context: McpContext,
  ) => Promise<Record<string, unknown>>;
}

/** Defines a tool; the server checks the arguments before it calls it. */
export const defineTool = <Input extends Record<string, z.ZodType>>(spec: ToolSpec<Input>): Tool => ({
  ...spec,
  call: (args, context) => spec.call(args as { readonly [Key in keyof Input]: z.infer<Input[Key]> }, context),
});

/** The response to a call: the data as structure and as text, or a sentence about what is wrong. */
export async function callTool(tool: Tool, args: Readonly<Record<string, unknown>>, context: McpContext) {
  try {
    if (hasNul(args))
      throw new RaymondError('an argument contains a NUL character', { exitCode: EXIT.usage, hint: 'Leave it out.' });
    const data = await tool.call(args, context);
    const links = (tool.links?.(data) ?? []).map((link) => ({ type: 'resource_link' as const, ...link }));
    return {
      content: [{ type: 'text' as const, text: JSON.stringify(data, null, 2) }, ...links],
      structuredContent: data,
    };
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    const text = sanitize([error.message, error.hint].filter((part) => part !== undefined).join('\n'));
    return { content: [{ type: 'text' as const, text }], isError: true };
  }
}
