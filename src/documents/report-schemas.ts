import { z } from 'zod';
import { EVENT_DOCUMENT } from './event-schemas.ts';
import {
  OBSERVED_STATUS,
  TEXT_LIST,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
  TOKENS,
  WHOLE_NUMBER,
} from './shared-schemas.ts';

const AMOUNT = {
  runs: WHOLE_NUMBER,
  turns: WHOLE_NUMBER,
  paid_usd: z.number(),
  estimated_usd: z.number(),
  canned_usd: z.number(),
  tokens: TOKENS,
};

/** The costs of a group of turns. */
export const COST_ROW = z.object({ key: z.string(), ...AMOUNT });

/** The document of `raymond costs --json`. */
export const COSTS_DOCUMENT = z.object({
  by: z.enum(['run', 'workflow', 'state', 'model', 'day']),
  since: TIME_OR_NULL,
  total: z.object(AMOUNT),
  rows: z.array(COST_ROW),
  incomplete: z.array(z.object({ run_id: z.string(), error: z.string(), missing_usd: z.number().nullable() })),
});

const EXAMPLE_STEP = z.object({
  from: z.string(),
  to: z.string(),
  tag: TEXT_OR_NULL,
  guard: z.string().exactOptional(),
  how: z.enum(['step', 'enter', 'back', 'worker', 'next', 'more']),
  after: TEXT_OR_NULL,
  at: z.object({ line: WHOLE_NUMBER, column: WHOLE_NUMBER }).nullable(),
  computed: z.literal(true).exactOptional(),
});

const FINDING_FIELDS = {
  rule: z.string(),
  level: z.enum(['error', 'warning', 'info']),
  file: z.string(),
  line: WHOLE_NUMBER,
  column: WHOLE_NUMBER,
  message: z.string(),
  hint: z.string(),
};

const FINDING = z.object({ ...FINDING_FIELDS, prevents_run: z.boolean(), example: z.array(EXAMPLE_STEP) });

/** A finding as the API and the MCP server have always had it, under the names of the library. */
export const LIBRARY_FINDING = z.object({ ...FINDING_FIELDS, preventsRun: z.boolean(), path: z.array(EXAMPLE_STEP) });

/** The document of `raymond lint --json`. */
export const LINT_DOCUMENT = z.object({
  ok: z.boolean(),
  errors: WHOLE_NUMBER,
  warnings: WHOLE_NUMBER,
  infos: WHOLE_NUMBER,
  workflows: z.array(z.object({ name: z.string(), path: z.string(), findings: z.array(FINDING) })),
});

const COVERED = z.array(z.object({ state: z.string(), line: WHOLE_NUMBER, label: z.string(), times: WHOLE_NUMBER }));

const TRAFFIC = z.object({
  states: z.array(
    z.object({
      state: z.string(),
      visits: WHOLE_NUMBER,
      turns: WHOLE_NUMBER,
      ms: z.number(),
      micros: z.number(),
      tokens: WHOLE_NUMBER,
    }),
  ),
  ways: z.array(z.object({ from: TEXT_OR_NULL, kind: z.string(), to: TEXT_OR_NULL, times: WHOLE_NUMBER })),
});

const TEST_CASE = { name: z.string(), file: z.string(), line: WHOLE_NUMBER, workflow: z.string() };
const COMPARED = z.union([z.string(), z.number(), TEXT_LIST]);

/** The document of `raymond test --json`. */
export const TESTS_DOCUMENT = z.object({
  passed: WHOLE_NUMBER,
  failed: WHOLE_NUMBER,
  duration_ms: z.number(),
  scenarios: z.array(
    z.object({
      ...TEST_CASE,
      passed: z.boolean(),
      duration_ms: z.number(),
      differences: z.array(
        z.object({
          what: z.string(),
          file: z.string(),
          line: WHOLE_NUMBER,
          column: WHOLE_NUMBER,
          expected: z
            .union([COMPARED, z.partialRecord(z.enum(['contains', 'lacks', 'matches']), z.string())])
            .exactOptional(),
          actual: COMPARED.exactOptional(),
          message: z.string().exactOptional(),
        }),
      ),
      warnings: TEXT_LIST,
      folder: z.string().exactOptional(),
    }),
  ),
  unusable: z.array(z.object({ file: z.string(), error: z.string() })),
  without_scenarios: TEXT_LIST,
  interrupted: z.array(z.object({ ...TEST_CASE, where: TEXT_LIST })).exactOptional(),
  not_begun: WHOLE_NUMBER.exactOptional(),
  coverage: z
    .object({
      percent: z.number(),
      workflows: z.array(
        z.object({
          workflow: z.string(),
          percent: z.number(),
          states: COVERED,
          transitions: COVERED,
          entries: COVERED,
          traffic: TRAFFIC,
        }),
      ),
    })
    .exactOptional(),
});

const SETTINGS = z.record(
  z.string(),
  z.object({
    value: z.union([z.string(), z.number(), z.boolean(), TEXT_LIST]).nullable(),
    note: TEXT_OR_NULL,
    source: z.enum(['default', 'user', 'project']),
    file: TEXT_OR_NULL,
    line: WHOLE_NUMBER.nullable(),
    trusted: z.boolean(),
  }),
);

/** The document of `raymond config --json`. */
export const CONFIG_DOCUMENT = z.object({
  file: z.string(),
  exists: z.boolean(),
  user_file: TEXT_OR_NULL,
  user_exists: z.boolean(),
  trusted: z.boolean(),
  options: SETTINGS,
  vars: SETTINGS,
});

/** The document of `raymond doctor --json`. */
export const DOCTOR_DOCUMENT = z.object({
  ok: z.boolean(),
  checks: z.array(
    z.object({
      name: z.string(),
      level: z.enum(['ok', 'warning', 'error', 'skipped']),
      message: z.string(),
      remedy: z.string().exactOptional(),
    }),
  ),
});

/** The document of `raymond prune --json`. */
export const PRUNE_DOCUMENT = z.object({
  runs: z.array(
    z.object({
      run_id: z.string(),
      status: z.union([OBSERVED_STATUS, z.enum(['unreadable', 'half_removed'])]),
      changed_at: TIME,
      bytes: z.number(),
      worktrees: WHOLE_NUMBER,
      removed: z.boolean(),
    }),
  ),
  bytes: z.number(),
});

/** The document of `raymond worktrees --json`. */
export const WORKTREES_DOCUMENT = z.object({
  worktrees: z.array(
    z.object({
      run_id: z.string(),
      agent: z.string(),
      path: z.string(),
      worker: TEXT_OR_NULL,
      branch: z.string(),
      holds: z.enum(['in_use', 'work', 'nothing']).nullable(),
      commits: WHOLE_NUMBER,
      dirty: z.boolean(),
      problem: TEXT_OR_NULL,
      work: z.object({ files: TEXT_LIST, commits: TEXT_LIST }).nullable(),
      removed: z.boolean(),
    }),
  ),
});

/** The document of `raymond nodes --json`. */
export const NODES_DOCUMENT = z.object({
  nodes: z.array(
    z.object({
      name: z.string(),
      host: z.string(),
      status: z.enum(['alive', 'draining', 'stopped', 'gone']),
      slots: WHOLE_NUMBER,
      turns_running: WHOLE_NUMBER,
      turns_queued: WHOLE_NUMBER,
      runs: WHOLE_NUMBER,
      heartbeat_age_ms: z.number(),
      labels: TEXT_LIST,
    }),
  ),
});

/** The document of `raymond say --json`. */
export const SAY_DOCUMENT = z.object({
  run_id: z.string(),
  agent: z.string(),
  state: z.string(),
  said_id: z.string(),
  delivery: z.enum(['turn', 'prompt', 'resume', 'unknown']),
});

const NOTICE = { reason: z.enum(['question', 'pause', 'failure', 'limit', 'end']) };

/** The document that the command of `--notify` gets on stdin. */
export const NOTIFICATION_DOCUMENT = z.object({
  run_id: z.string(),
  run_name: z.string(),
  folder: z.string(),
  message: z.string(),
  notices: z.array(z.intersection(EVENT_DOCUMENT, z.object({ ...NOTICE, answer_command: z.string().exactOptional() }))),
  left_out: WHOLE_NUMBER,
});
