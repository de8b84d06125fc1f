import type { Rule } from '../rule.ts';
import * as TABLE from './all.ts';

/** The name of a rule, as findings and `lint: allow` comments have it. */
export type RuleId = (typeof TABLE)[keyof typeof TABLE]['id'];

/** All rules of lint, each superseding only rules that exist. */
export const RULES: readonly Rule<RuleId>[] = Object.values(TABLE);
