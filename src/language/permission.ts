import { parseDurationMs } from './text/duration.ts';

/** What happens to a tool that is not permitted: it is denied, or a person is asked, who has so much time. */
export type NotPermitted =
  | { readonly kind: 'deny' }
  | { readonly kind: 'ask' /** Null for any. */; readonly timeoutMs: number | null };

/** The values of `not_permitted`, for messages. */
export const NOT_PERMITTED_FORMS = 'deny, ask, or ask with a time such as ask 30m';
/** The same as a pattern. */
export const NOT_PERMITTED_PATTERN = '^(?:deny|ask(?: +\\d+(?:\\.\\d+)?(?:ms|s|m|h|d)?)?)$';

/** Reads a value of `not_permitted`; undefined if it is none. */
export function parseNotPermitted(written: string): NotPermitted | undefined {
  const [word, time, ...rest] = written.trim().split(/\s+/);
  if (rest.length > 0) return undefined;
  if (word === 'deny' && time === undefined) return { kind: 'deny' };
  if (word !== 'ask') return undefined;
  if (time === undefined) return { kind: 'ask', timeoutMs: null };
  const timeoutMs = parseDurationMs(time);
  return timeoutMs === undefined || timeoutMs === 0 ? undefined : { kind: 'ask', timeoutMs };
}

/** The call of a tool that needs the word of a person. */
export interface PermissionRequest {
  readonly tool: string;
  /** The arguments of the call as JSON; long texts in it are shortened. */
  readonly input: string;
  /** Differs with the tool and with everything in its arguments. */
  readonly digest: string;
  /** Why it is not permitted; null if the backend does not say. */
  readonly reason: string | null;
  /** The rules and folders that `always` grants. */
  readonly rules: readonly string[];
  readonly folders: readonly string[];
  /** A question of the agent is answered, a plan approved, any other call permitted. */
  readonly form: 'tool' | 'question' | 'plan';
  /** The ids of the call and of the request, as the backend has them. */
  readonly call: string;
  readonly request: string;
}

/** The rules and folders that a person has granted for the rest of a run. */
export interface Grants {
  readonly rules: readonly string[];
  readonly folders: readonly string[];
}

/** Nothing is granted. */
export const NO_GRANTS: Grants = { rules: [], folders: [] };

/** The word of a person on a call. The text is the reason of a denial, or the answer to a question of the agent. */
export interface Decision {
  readonly kind: 'allow' | 'always' | 'deny';
  readonly text: string;
}

/** Reads the answer of a person: `allow`, `always`, `deny` or `deny: REASON`; undefined if it is none. */
export function parseDecision({ form }: Pick<PermissionRequest, 'form'>, written: string): Decision | undefined {
  const [, word, text = ''] = /^\s*(allow|always|deny)(?:\s*:\s*|\s+|$)([\s\S]*)$/i.exec(written) ?? [];
  const kind = word?.toLowerCase() as Decision['kind'] | undefined;
  if (kind === 'deny') return { kind, text: text.trim() };
  // The agent asks for words, and these are the person's.
  if (form === 'question') return written.trim() === '' ? undefined : { kind: 'allow', text: written };
  if (kind === undefined || text.trim() !== '') return undefined;
  // A plan has no rules: it is approved once.
  return { kind: form === 'plan' ? 'allow' : kind, text: '' };
}

/** The answer as it is kept. */
export const formatDecision = ({ kind, text }: Decision): string => (text === '' ? kind : `${kind}: ${text}`);

/** The grants with those of a request added. */
export const addGrants = (
  grants: Grants,
  { rules, folders }: Pick<PermissionRequest, 'rules' | 'folders'>,
): Grants => ({
  rules: [...new Set([...grants.rules, ...rules])],
  folders: [...new Set([...grants.folders, ...folders])],
});

/** True if a person has granted everything that a request suggests, and it suggests something. */
export const isGranted = (grants: Grants, { rules, folders }: Pick<PermissionRequest, 'rules' | 'folders'>): boolean =>
  rules.length + folders.length > 0 &&
  rules.every((rule) => grants.rules.includes(rule)) &&
  folders.every((folder) => grants.folders.includes(folder));
