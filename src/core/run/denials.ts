/** The most kinds of denied tools that are named. */
const MAX_NAMED = 3;
const MAX_KEPT = 10;

/** Names denied tools, each once: `Bash(npm test), Write(/etc/hosts) and 2 more`. */
function nameDeniedTools(denials: readonly string[]): string {
  const tools = [...new Set(denials)];
  const rest = tools.length - MAX_NAMED;
  return rest > 0 ? `${tools.slice(0, MAX_NAMED).join(', ')} and ${rest} more` : tools.join(', ');
}

/** The denied tools of an agent in its state, with those of its latest turn; only as many as a message may name. */
export const mergeDenials = (before: readonly string[], more: readonly string[]): readonly string[] =>
  more.length === 0 ? before : [...new Set([...before, ...more])].slice(0, MAX_KEPT);

/** Says what was denied in a state, and what would permit it. */
export const explainDenials = (state: string, denials: readonly string[]): string =>
  `${nameDeniedTools(denials)} ${new Set(denials).size > 1 ? 'were' : 'was'} not permitted: ${adviseOnDenials(state, denials)}`;

/** Writing to paths that no permission of a state opens to an edit-only agent. */
const PROTECTED_PATH =
  /^(?:Write|Edit|NotebookEdit)\((?:.*\/)?\.(?:raymond|claude|git|mcp\.json)(?:\/|\))|^Bash\(.*\.raymond/;

/** Says what would permit these tools in a state. */
export function adviseOnDenials(state: string, denials: readonly string[]): string {
  const permittable = denials.filter((denial) => !PROTECTED_PATH.test(denial));
  if (permittable.length === 0) return 'agents may not write there, as docs/security.md explains';
  const rules = [...new Set(permittable.map(ruleFor))].slice(0, MAX_NAMED).map((rule) => JSON.stringify(rule));
  return `to permit it, put \`allowed_tools: [${rules.join(', ')}]\` into ${state}, or choose another --permission-mode`;
}

/** The rule of Claude Code that permits what was denied: the command itself, or else the whole tool. */
function ruleFor(denial: string): string {
  const [, tool = denial] = /^([^(]*)\(/.exec(denial) ?? [];
  return tool === 'Bash' && !denial.endsWith('…)') ? denial : tool;
}
