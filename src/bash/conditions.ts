import type { Case, If, Word } from 'unbash';
import { UNKNOWN } from '../language/tags/tag-mentions.ts';
import { matchesWildcards } from '../language/text/glob.ts';
import { type LoopCommand, readLoopHeader } from './loops.ts';
import { type CommandList, type InnerNode, isNegated, pipelinesOf, type ShellNode } from './parse.ts';
import {
  isSimple,
  isTestCommand,
  type Redirect,
  readSimpleCommand,
  redirectsOf,
  type SimpleCommand,
} from './simple-command.ts';
import type { VariableValues } from './variable-values.ts';
import { type CommandContext, listCommands, listSimpleCommands, listSimpleCommandsIn } from './walk.ts';
import { readWord, type Substitution, type WordText } from './word.ts';

/** Reads the conditions of a script. Their subjects include what a variable's value, or a file, was made from. */
export class ConditionReader {
  /** By variable or file: what its value was made from, and what decides whether it gets that value. */
  private readonly relatedSubjects = new Map<string, Set<string>>();
  /** Flag variables: set to a constant inside a function, and tested later. */
  private readonly flags = new Set<string>();
  private readonly values: VariableValues;

  constructor(script: CommandList, values: VariableValues) {
    this.values = values;
    for (const { node, context } of listCommands(script)) {
      const deciding = findDecidingSubjects(context);
      if (node.type === 'For' || node.type === 'Select') this.relate(node.name.text, deciding);
      if (isSimple(node)) this.relateCommand(readSimpleCommand(node), context.functionName, deciding);
    }
  }

  /** Reads the condition of an `if` or `while`. */
  readTests(test: CommandList): Condition {
    const negated = test.slice(0, 1).some((statement) => pipelinesOf(statement).commands.slice(0, 1).some(isNegated));
    const commands = listSimpleCommands(test).map(({ command }) => command);
    return this.readCondition(commands, negated);
  }

  /** Reads the condition of what follows these commands behind `&&` or `||`. */
  readCommands(commands: readonly ShellNode[]): Condition {
    const condition = this.readCondition(listSimpleCommandsIn(commands), false);
    const inputs = commands.flatMap((node) => subjectsOfInput(redirectsOf(node)));
    return { ...condition, subjects: this.withRelated([...condition.subjects, ...inputs]) };
  }

  /** Reads the condition of the arms of a `case`. */
  readCaseWord(word: Word): Condition {
    return this.about(subjectsOfWord(readWord(word)));
  }

  /** Reads the condition of another iteration of a loop that reads what these commands print, or these files. */
  readLoop(loop: LoopCommand, before: readonly ShellNode[], redirects: readonly Redirect[]): Condition {
    const { subjects } = this.readCommands(before);
    return this.about([...subjectsOfLoop(loop), ...subjects, ...subjectsOfInput(redirects)]);
  }

  /** True if a condition tests a flag variable. */
  dependsOnFlag({ subjects }: Condition): boolean {
    return [...subjects].some((subject) => this.flags.has(subject));
  }

  private readCondition(commands: readonly SimpleCommand[], negated: boolean): Condition {
    const [only, second] = commands;
    const single = second === undefined ? only : undefined;
    const equality = single === undefined || negated ? null : parseEquality(single);
    return {
      subjects: this.withRelated(commands.flatMap(subjectsOfCommand)),
      equality: equality === null ? null : { ...equality, allValues: this.values.allValuesOf(equality.subject) },
      isExistenceTest: single !== undefined && isExistenceTest(single),
    };
  }

  private about(subjects: readonly string[]): Condition {
    return { subjects: this.withRelated(subjects), equality: null, isExistenceTest: false };
  }

  private relateCommand(
    { name, args, assignments, words, redirects }: SimpleCommand,
    functionName: string | null,
    deciding: readonly string[],
  ): void {
    for (const { variable, values } of assignments) {
      const sources = values.flatMap(subjectsOfExpansions);
      this.relate(variable, [...sources, ...deciding]);
      if (functionName !== null && sources.length === 0 && name === '') this.flags.add(variable);
    }
    // Counters and files that a command changes show later that it ran.
    const written = redirects.flatMap(({ operator, target }) => (operator.includes('>') ? target : []));
    const traces = [
      ...(name === '((' ? words.flatMap((word) => word.variables) : []),
      ...[...(FILE_COMMANDS.has(name) ? args : []), ...written].flatMap(subjectsOfWord),
    ];
    for (const trace of traces) this.relate(trace, deciding);
  }

  private relate(subject: string, others: readonly string[]): void {
    const related = this.relatedSubjects.get(subject) ?? new Set();
    this.relatedSubjects.set(subject, related);
    for (const other of others) related.add(other);
  }

  private withRelated(subjects: readonly string[]): ReadonlySet<string> {
    const all = new Set(subjects);
    // Iterating over a set also visits what is added meanwhile.
    for (const subject of all) for (const related of this.relatedSubjects.get(subject) ?? []) all.add(related);
    return all;
  }
}

/** Commands that leave a trace in the file system. */
const FILE_COMMANDS = new Set(['touch', 'rm', 'mkdir', 'rmdir', 'cp', 'mv', 'ln', 'tee']);

/** The subjects that decide whether a command is run. */
const findDecidingSubjects = ({ ancestors, preceding }: CommandContext): readonly string[] => [
  ...ancestors.flatMap(subjectsOfBranching),
  ...listSimpleCommandsIn(preceding).flatMap(subjectsOfCommand),
  ...preceding.flatMap((node) => subjectsOfInput(redirectsOf(node))),
];

function subjectsOfBranching(node: InnerNode): readonly string[] {
  switch (node.type) {
    case 'If':
      return [node, ...node.elif].flatMap(({ clause }) => subjectsOfList(clause.commands));
    case 'Case':
      return subjectsOfWord(readWord(node.word));
    case 'For':
    case 'ArithmeticFor':
    case 'Select':
    case 'While':
      return subjectsOfLoop(node);
    default:
      return [];
  }
}

function subjectsOfLoop(loop: LoopCommand): readonly string[] {
  const { test, items } = readLoopHeader(loop);
  return [...subjectsOfList(test), ...(items ?? []).flatMap(subjectsOfWord)];
}

const subjectsOfList = (list: CommandList): readonly string[] =>
  listSimpleCommands(list).flatMap(({ command }) => subjectsOfCommand(command));

/** The files and texts that are redirected to a command. */
const subjectsOfInput = (redirects: readonly Redirect[]): readonly string[] =>
  redirects.flatMap(({ operator, target }) => (operator.startsWith('<') ? subjectsOfWord(target) : []));

/** Commands that act, and hardly ever serve as a test. */
const ACTION_COMMANDS = new Set(
  'echo printf exit return break continue mkdir rm cp mv touch cd sleep : true false'.split(' '),
);

function subjectsOfCommand({ name, args, words }: SimpleCommand): readonly string[] {
  if (ACTION_COMMANDS.has(name)) return [];
  if (name === '' || name === '((') return words.flatMap(subjectsOfExpansions);
  return args.length === 0 ? [name] : args.flatMap(subjectsOfWord);
}

/** Operators, options and numbers, which are no subjects of a comparison. */
const COMPARISON = /^(?:-.*|\d+|[!=<>]+|=~|\]{1,2})$/;

/** A path with a variable in it is a file, not the variable. */
function subjectsOfWord(word: WordText): readonly string[] {
  const expanded = subjectsOfExpansions(word);
  if (word.text === '' || COMPARISON.test(word.text)) return expanded;
  const isPath = word.text.includes('/') && word.text.includes(UNKNOWN);
  return expanded.length === 0 || isPath ? [[word.text, ...expanded].join(' ')] : expanded;
}

/** Variables, commands and the arguments of the commands. */
const subjectsOfExpansions = ({ variables, substitutions }: WordText): readonly string[] => [
  ...variables,
  ...substitutions.flatMap(subjectsOfSubstitution),
];

const subjectsOfSubstitution = ({ text, script }: Substitution): readonly string[] => [
  text,
  ...listSimpleCommands(script.commands).flatMap(({ command: { args, redirects } }) => [
    ...args.flatMap(subjectsOfWord),
    ...subjectsOfInput(redirects),
  ]),
];

/** A variable and the value that it is compared with. */
interface Comparison {
  readonly subject: string;
  readonly value: string;
}

/** Reads a test that asks whether a variable has one certain value; null if it asks anything else. */
function parseEquality(command: SimpleCommand): Comparison | null {
  const [left, operator, right, more] = testArguments(command) ?? [];
  if (left === undefined || right === undefined || more !== undefined) return null;
  if (!['=', '==', '-eq'].includes(operator?.text ?? '')) return null;
  const subject = readVariableName(left);
  return subject === null || !isPlain(right) ? null : { subject, value: right.text };
}

/** True if a test only asks if something exists, as `[ -f x ]` and `[ -n "$x" ]` do. */
const isExistenceTest = (command: SimpleCommand): boolean =>
  /^-[a-z]$/.test(testArguments(command)?.filter(({ text }) => text !== '!')[0]?.text ?? '');

/** True if one of the arms of a command is always taken: they cover all values that the tested variable can have. */
export function isExhaustive(command: If | Case, values: VariableValues, call: SimpleCommand | null): boolean {
  if (command.type === 'Case') {
    const variable = readVariableName(readWord(command.word));
    const patterns = command.items.flatMap(({ pattern }) => pattern.map(readWord));
    const known = values.allValuesOf(variable)?.every((value) => patterns.some((each) => matchesPattern(each, value)));
    // The arguments of a function are those that its calls give, and these are in the script.
    const isArgument = call !== null && /^[1-9]$/.test(variable ?? '');
    return known ?? (isArgument || patterns.some(({ text }) => text === '*'));
  }
  const equalities = [command, ...command.elif].map(({ clause }) => parseSingleTest(clause.commands));
  const [first] = equalities;
  if (first == null || equalities.some((each) => each?.subject !== first.subject)) return false;
  return values.allValuesOf(first.subject)?.every((value) => equalities.some((each) => each?.value === value)) ?? false;
}

function parseSingleTest(test: CommandList): Comparison | null {
  const [statement, another] = test;
  const [command, ...more] = statement === undefined ? [] : pipelinesOf(statement).commands;
  const isSingle = another === undefined && more.length === 0 && command !== undefined && !isNegated(command);
  if (!isSingle || command.type === 'Pipeline' || command.type === 'Redirected') return null;
  return isSimple(command) ? parseEquality(readSimpleCommand(command)) : null;
}

/** The variable whose value a word is; null if there is more to the word. */
function readVariableName({ text, placeholders }: WordText): string | null {
  return text === UNKNOWN ? (placeholders[0]?.variable ?? null) : null;
}

function testArguments({ name, args }: SimpleCommand): readonly WordText[] | null {
  return isTestCommand(name) ? args.slice(0, name === '[' ? -1 : undefined) : null;
}

const isPlain = ({ text }: WordText): boolean => !/[*?[\]\uE000]/.test(text);

/** Matches as `case` does; a pattern with brackets or unknown parts matches nothing. */
function matchesPattern({ text }: WordText, value: string): boolean {
  return !/[[\]\uE000]/.test(text) && matchesWildcards(text, value);
}

/** A question that a script asks before it runs a command. */
export interface Condition {
  /** The variables, files and other things that it names. */
  readonly subjects: ReadonlySet<string>;
  /** The value that it compares a variable with, if that is all it does. */
  readonly equality: Equality | null;
  /** True if it only asks if something exists. */
  readonly isExistenceTest: boolean;
}

/** A variable, one of its values, and all of them if they are known. */
interface Equality {
  readonly subject: string;
  readonly value: string;
  readonly allValues: readonly string[] | null;
}

/** The conditions on a path. Two about the same subject may exclude each other. */
export type Conditions = readonly Condition[];

/** Unites the conditions of two paths. */
export const unionConditions = (a: Conditions, b: Conditions): Conditions =>
  b.length === 0 ? a : [...new Set([...a, ...b])];

/** True if a condition of one path may exclude one of the other; those that both have in common do not. */
export function mayExclude(one: Conditions, other: Conditions): boolean {
  const unshared = other.filter((each) => !one.includes(each));
  return one.some((condition) => !other.includes(condition) && unshared.some((each) => sharesSubject(condition, each)));
}

/** True if the conditions together may cover every case, for example `= a` and `!= a`. */
export function mayCoverAllCases(condition: Condition, others: Conditions): boolean {
  const related = others.filter((each) => each !== condition && sharesSubject(each, condition));
  const values = [condition, ...related].flatMap(({ equality }) =>
    equality?.subject === condition.equality?.subject ? (equality ?? []) : [],
  );
  if (values.length <= related.length) return related.length > 0;
  // If all are comparisons of one variable, they cover every case only with all of its values.
  return condition.equality?.allValues?.every((value) => values.some((each) => each.value === value)) ?? false;
}

/** True if an earlier `exit` guard about the same subject may already have excluded the opposite case. */
export const isImpliedByGuards = (condition: Condition, guards: Conditions): boolean =>
  guards.some((guard) => !guard.isExistenceTest && guard !== condition && sharesSubject(guard, condition));

const sharesSubject = (a: Condition, b: Condition): boolean =>
  [...b.subjects].some((subject) => a.subjects.has(subject));
