import {
  type CommandNode,
  type CompoundList,
  forEachChild,
  type LogicalOperator,
  type PipelineNode,
  parse,
  type Redirected,
  type Script,
  type Statement,
  type SyntaxNode,
} from 'unbash';

/** A command of any kind: a simple one, one that holds others, or a definition. */
export type ShellNode = CommandNode | CompoundList;

/** A command without the redirections around it. */
export type InnerNode = Exclude<ShellNode, Redirected>;

/** Commands that are run one after the other. */
export type CommandList = readonly Statement[];

/** Parses a bash script; undefined if it has a syntax error anywhere, or is nested too deeply. Offsets are those of `text`. */
export function parseScript(text: string): Script | undefined {
  try {
    const script = parse(toUnixText(text));
    return hasSyntaxError(script) ? undefined : script;
  } catch (error) {
    // The parser recurses: some texts that are nothing but openings exhaust the stack.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Replaces carriage returns and a byte order mark by what bash would skip; every other character keeps its offset. */
const toUnixText = (text: string): string =>
  text
    .replace(/^\uFEFF/, ' ')
    .replaceAll('\\\r\n', ' \\\n')
    .replaceAll('\r\n', '\n\n');

/** Substitutions are scripts of their own, with their own errors; words without any need not be looked into. */
function hasSyntaxError(node: SyntaxNode): boolean {
  if (node.type === 'Word' && !/[(`]/.test(node.text)) return false;
  if (node.type === 'Script' && node.errors !== undefined && node.errors.length > 0) return true;
  let found = false;
  forEachChild(node, (child) => {
    found ||= hasSyntaxError(child);
  });
  return found;
}

/** The pipelines of a statement, and the `&&` or `||` between each and the next. */
export function pipelinesOf({ command }: Statement): {
  readonly commands: readonly PipelineNode[];
  readonly operators: readonly LogicalOperator[];
} {
  return command.type === 'AndOr' ? command : { commands: [command], operators: [] };
}

/** The commands of a pipeline, each of which reads what the one before it prints. */
export const pipelineCommands = (pipeline: PipelineNode): readonly CommandNode[] =>
  pipeline.type === 'Pipeline' ? pipeline.commands : [pipeline];

/** True if a pipeline is negated with `!`. */
export const isNegated = (pipeline: PipelineNode): boolean =>
  pipeline.type === 'Pipeline' && pipeline.prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1;

/** Removes the redirections around a compound command. */
export const innerCommand = (node: ShellNode): InnerNode => (node.type === 'Redirected' ? node.command : node);
