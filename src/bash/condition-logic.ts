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
export interface Equality {
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
