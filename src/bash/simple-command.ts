import type {
  ArithmeticCommand,
  Assignment as AssignmentNode,
  Command,
  Redirection,
  TestCommand,
  TestExpression,
} from 'unbash';
import { memoize } from '../language/text/memoize.ts';
import { sliceMappedText } from './mapped-text.ts';
import type { InnerNode, ShellNode } from './parse.ts';
import { plainWord, readDocument, readWord, type WordText } from './word.ts';

/** A command that holds no others, with the quotes of its words removed. Tests are such commands, too: `[[` and `((`. */
export interface SimpleCommand {
  readonly at: number;
  /** Its name, behind `command` and `builtin`; empty if it only assigns variables or opens files. */
  readonly name: string;
  /** The words behind the name; of a declaration such as `local x=1`, the value. */
  readonly args: readonly WordText[];
  readonly assignments: readonly AssignedValues[];
  /** The values of the assignments, the name and the arguments. */
  readonly words: readonly WordText[];
  readonly redirects: readonly Redirect[];
}

/** The value that an assignment gives to a variable, or the items of an array. */
export interface AssignedValues {
  readonly variable: string;
  readonly values: readonly WordText[];
  /** True if it keeps something of the value before, as `x+=1` and `x[1]=2` do. */
  readonly modifies: boolean;
}

/** A redirection of one stream; of a here document, the target is its text. */
export interface Redirect {
  readonly operator: Redirection['operator'];
  /** The number of the stream, or the variable that gets it; empty if it is not written down. */
  readonly descriptor: string;
  readonly target: WordText;
}

type SimpleNode = Command | TestCommand | ArithmeticCommand;

/** True if a command is read as a simple one, and not one that holds others. */
export const isSimple = (node: InnerNode): node is SimpleNode =>
  node.type === 'Command' || node.type === 'TestCommand' || node.type === 'ArithmeticCommand';

/** True if a command with this name compares values or asks about files. */
export const isTestCommand = (name: string): boolean => name === '[' || name === '[[' || name === 'test';

/** Reads a simple command. Redirections of a test are left out: it prints nothing. */
export const readSimpleCommand = memoize(
  (node: SimpleNode): SimpleCommand => (node.type === 'Command' ? readCommand(node) : readTest(node)),
);

/** The redirections of a command of any kind. */
export function redirectsOf(node: ShellNode): readonly Redirect[] {
  if (node.type === 'Command') return readSimpleCommand(node).redirects;
  return node.type === 'Redirected' ? node.redirects.flatMap(readRedirect) : [];
}

function readCommand(node: Command): SimpleCommand {
  const assignmentsIn = (nodes: Command['suffix']): readonly AssignedValues[] =>
    nodes.flatMap((each) => (each.type === 'Assignment' ? readAssignment(each) : []));
  const assigned = assignmentsIn(node.prefix);
  const name = node.name === undefined ? [] : [readWord(node.name)];
  const args = node.args.flatMap((each) => (each.type === 'Word' ? readWord(each) : readAssignment(each).values));
  return {
    at: node.pos,
    ...splitName([...name, ...args]),
    assignments: [...assigned, ...assignmentsIn(node.suffix)],
    words: [...assigned.flatMap(({ values }) => values), ...name, ...args],
    redirects: node.redirects.flatMap(readRedirect),
  };
}

/** `command` and `builtin` run what follows them. */
function splitName([name, ...args]: readonly WordText[]): Pick<SimpleCommand, 'name' | 'args'> {
  const isPrefix = name?.text === 'command' || name?.text === 'builtin';
  return isPrefix && args[0]?.text.startsWith('-') === false ? splitName(args) : { name: name?.text ?? '', args };
}

function readAssignment({ name, value, append, index }: AssignmentNode): AssignedValues {
  const values = value.type === 'Word' ? [readWord(value)] : value.elements.map((item) => withoutKey(readWord(item)));
  return { variable: name, values, modifies: append === true || index !== undefined };
}

/** An item of an array may have a key: `[bug]=FIX.md`. */
function withoutKey(item: WordText): WordText {
  const [key = ''] = /^\[[^\]]*\]=/.exec(item.text) ?? [];
  return key === '' ? item : { ...item, ...sliceMappedText(item, key.length) };
}

function readTest(node: TestCommand | ArithmeticCommand): SimpleCommand {
  const isTest = node.type === 'TestCommand';
  const variables = isTest ? [] : (node.body.match(/[a-z_]\w*/gi) ?? []);
  const name = plainWord(isTest ? '[[' : '((', node.pos, variables);
  const args = isTest ? testWords(node.expression) : [];
  return { at: node.pos, name: name.text, args, assignments: [], words: [name, ...args], redirects: [] };
}

/** The words of a test, as `[` would get them; brackets, `&&` and `||` are left out. */
function testWords(expression: TestExpression): readonly WordText[] {
  switch (expression.type) {
    case 'TestUnary':
      return [plainWord(expression.operator, expression.pos), readWord(expression.operand)];
    case 'TestBinary': {
      const [left, right] = [readWord(expression.left), readWord(expression.right)];
      return [left, plainWord(expression.operator, expression.pos), right];
    }
    case 'TestLogical':
      return expression.operands.flatMap(testWords);
    case 'TestNot':
      return [plainWord('!', expression.pos), ...testWords(expression.operand)];
    case 'TestGroup':
      return testWords(expression.expression);
  }
}

function readRedirect(node: Redirection): readonly Redirect[] {
  const { operator, descriptor } = node;
  const name =
    descriptor === undefined ? '' : descriptor.type === 'FileDescriptor' ? `${descriptor.value}` : descriptor.name;
  if (node.type === 'HereDoc') return [{ operator, descriptor: name, target: readDocument(node) }];
  return node.target === undefined ? [] : [{ operator, descriptor: name, target: readWord(node.target) }];
}
