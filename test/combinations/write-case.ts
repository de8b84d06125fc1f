import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import type { AnswerDef, Case, EvaluatorDef, PolicyEntryDef, StateDef, TagDef, WorkflowDef } from './case.ts';
import { isPromptFile } from './case.ts';

/** Every prompt shows all variables, so that its text tells what the state received. */
export const PROMPT_TEMPLATE =
  'In {{state}} as {{agent_id}} of {{workflow_id}}: input [{{input}}] part [{{result.n}}] error [{{error}}] ask [{{ask_id}}] ' +
  'item [{{item}}] index [{{index}}] group [{{group}}] colour [{{colour}}] shade [{{shade}}] task [{{task_folder}}] ' +
  'thing [{{thing}}] run [{{run_folder}}] results [{{results}}] file [{{results_file}}]. It may enter another workflow: call-workflow.';

/** A judge sees the answer and the transition, too. */
export const JUDGE_TEMPLATE = `${PROMPT_TEMPLATE} output [{{output}}] transition [{{transition}}]`;

/** A tag as it is written in an answer. */
export function formatTag({ tag, target, attributes }: TagDef): string {
  const words = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
  return `<${tag}${words.join('')}>${target}</${tag}>`;
}

/** The text of an answer. */
export function formatAnswer({ tags, isCut, confirms, words, prints }: AnswerDef): string {
  const text = [
    ...prints.map((print) => `<print>${print}</print>`),
    ...(words === '' ? [] : [words]),
    ...(confirms ? ['<confirm></confirm>'] : []),
    ...tags.map(formatTag),
  ].join('\n');
  return isCut ? text.slice(0, -3) : text;
}

const entryOf = ({ tag, target, attributes }: PolicyEntryDef): object => ({
  tag,
  ...(target !== undefined && { target }),
  ...attributes,
});

function evaluatorOf(evaluator: EvaluatorDef): object {
  if ('file' in evaluator) return { [evaluator.kind]: evaluator.file };
  const { kind, pattern, instead } = evaluator;
  const { tag, target, attributes } = instead;
  const aim = tag === 'result' ? { payload: target } : { target };
  return Object.fromEntries([
    [kind, pattern],
    ['then', { tag, ...aim, ...attributes }],
  ]);
}

/** The frontmatter of a state. */
function frontmatterOf(state: StateDef): Readonly<Record<string, unknown>> {
  return {
    ...(state.policy.length > 0 && { allowed_transitions: state.policy.map(entryOf) }),
    ...(state.forceImplicit && { force_implicit: true }),
    ...(state.maxVisits !== null && { max_visits: state.maxVisits }),
    ...(state.perCall && { max_visits_per: 'call' }),
    ...(state.retry !== null && { retry: state.retry }),
    ...(Object.keys(state.on).length > 0 && { on: state.on }),
    // Whatever else is written meanwhile, such as the results of a join, is no progress of this state.
    ...(state.stuckAfter !== null && { stuck_after: state.stuckAfter, stuck_files: ['never-written.txt'] }),
    ...(state.hasSchema && {
      result_schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    }),
    ...(state.evaluators.length > 0 && { evaluator: state.evaluators.map(evaluatorOf) }),
    ...(state.repeatable && { repeatable: true }),
    ...(state.model !== null && { model: state.model }),
    ...(state.effort !== null && { effort: state.effort }),
    ...(state.timeout !== null && { timeout: state.timeout }),
  };
}

/** The text of a state below its frontmatter. */
function bodyOf({ file, real }: StateDef): string {
  if (isPromptFile(file)) return file.startsWith('J') ? JUDGE_TEMPLATE : PROMPT_TEMPLATE;
  // A state without a policy that never speaks of workflows may enter only those that others name.
  if (real === null) return 'exit 99 # It may enter another workflow: call-workflow.\n';
  const shown = '$RAYMOND_STATE|${RAYMOND_INPUT-none}|${RAYMOND_ERROR-none}|$RAYMOND_VISIT|${RAYMOND_VAR_item-none}';
  return `echo "<print>${shown}</print>"\n${real.map((tag) => `echo '${formatTag(tag)}'\n`).join('')}`;
}

/** A state as a file of a folder. */
function formatStateFile(state: StateDef): string {
  const lines = Object.entries(frontmatterOf(state)).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const body = bodyOf(state);
  if (isPromptFile(state.file)) return lines.length === 0 ? body : `---\n${lines.join('\n')}\n---\n${body}`;
  const block = lines.length === 0 ? '' : ['---', ...lines, '---'].map((line) => `# ${line}\n`).join('');
  return `#!/bin/bash\n${block}${body}`;
}

/** The files of a workflow, by their paths below the folder of all workflows. */
function filesOf({ name, form, vars, states }: WorkflowDef): Readonly<Record<string, string | Uint8Array>> {
  const manifest = Object.keys(vars).length === 0 ? {} : { 'workflow.yaml': JSON.stringify({ vars }) };
  if (form === 'yaml') {
    const entries = Array.from(states.values(), (state) => [
      state.file.replace(/\.\w+$/, ''),
      { ...frontmatterOf(state), [isPromptFile(state.file) ? 'prompt' : 'sh']: bodyOf(state) },
    ]);
    const whole = { ...(Object.keys(vars).length > 0 && { vars }), states: Object.fromEntries(entries) };
    return { [`${name}.yaml`]: JSON.stringify(whole, null, 1) };
  }
  const files = {
    ...Object.fromEntries(Array.from(states.values(), (each) => [each.file, formatStateFile(each)])),
    ...manifest,
  };
  if (form === 'folder')
    return Object.fromEntries(Object.entries(files).map(([file, text]) => [join(name, file), text]));
  return {
    [`${name}.zip`]: zipSync(Object.fromEntries(Object.entries(files).map(([file, text]) => [file, strToU8(text)]))),
  };
}

/** Writes the workflows of a case and returns the path of the one to run. */
export function writeWorkflows({ workflows }: Case, folder: string): string {
  for (const workflow of workflows.values()) {
    for (const [file, content] of Object.entries(filesOf(workflow))) {
      const path = join(folder, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  }
  return join(folder, 'main');
}

/** A case as people read it: its files, its answers, and what happens to the run. */
export function describeCase(subject: Case): string {
  const lines: string[] = [];
  for (const { name, form, vars, states } of subject.workflows.values()) {
    lines.push(`=== workflow ${name} (${form})${Object.keys(vars).length > 0 ? ` ${JSON.stringify(vars)}` : ''}`);
    for (const state of states.values()) {
      lines.push(`--- ${state.file} ${JSON.stringify(frontmatterOf(state))}`);
      if (state.real !== null) lines.push(`    really prints ${state.real.map(formatTag).join(' ')}`);
      for (const [visit, turns] of state.answers.entries())
        for (const [turn, answer] of turns.entries())
          lines.push(`    visit ${visit + 1}, turn ${turn + 1}: ${describeAnswer(answer)}`);
    }
  }
  const { workflows: _, asks, interrupts, ...rest } = subject;
  lines.push(
    `=== ${JSON.stringify({ ...rest, asks: Object.fromEntries(asks), interrupts: Object.fromEntries(interrupts) })}`,
  );
  return lines.join('\n');
}

function describeAnswer(answer: AnswerDef): string {
  const { tags: _tags, isCut: _cut, confirms: _confirms, words: _words, prints: _prints, summary, ...rest } = answer;
  const facts = Object.entries(rest).filter(
    ([, value]) => value !== null && value !== 0 && String(value) !== '' && JSON.stringify(value) !== '{}',
  );
  const told = [...facts, ...(summary.cost > 0 || summary.fails ? [['summary', summary]] : [])];
  return `${formatAnswer(answer).replaceAll('\n', ' ')} ${told.length > 0 ? JSON.stringify(Object.fromEntries(told)) : ''}`;
}
