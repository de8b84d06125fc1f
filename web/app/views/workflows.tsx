import { useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type {
  ListedWorkflowDocument,
  StartedDocument,
  WorkflowDocument,
  WorkflowsDocument,
} from '../../../src/documents/types.ts';
import { get, send } from '../api.ts';
import { Action, Failure, Picture } from '../parts.tsx';
import { usePolled } from '../poll.ts';
import { go } from '../router.ts';

/** The workflows that can be started, and the form for one of them. */
export function Workflows({ chosen }: { chosen: string | null }) {
  const { data, error } = usePolled((signal) => get<WorkflowsDocument>('/workflows', signal), 0, 'workflows');
  const workflows = data.value?.workflows ?? [];
  const workflow = workflows.find(({ project, id }) => `${project}/${id}` === chosen);
  if (workflow !== undefined) return <StartForm workflow={workflow} />;
  return (
    <>
      <h1>Workflows</h1>
      <Failure error={error.value} />
      {data.value !== null && workflows.length === 0 && (
        <p class="note">
          None was found below the folders of this server. <code>raymond init workflows/first</code> creates one.
        </p>
      )}
      <ul class="cards">
        {workflows.map((each) => (
          <li key={`${each.project}/${each.id}`}>
            <a href={`/workflows/${each.project}/${each.id}`}>
              <strong>{titleOf(each)}</strong>
              <small>{each.path}</small>
              <span>{each.error ?? each.description ?? describeStates(each.states.length)}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

const describeStates = (count: number): string => `${count} ${count === 1 ? 'state' : 'states'}`;

const titleOf = (workflow: ListedWorkflowDocument): string =>
  (workflow.error === null ? workflow.title : null) ?? workflow.name;

function StartForm({ workflow }: { workflow: ListedWorkflowDocument }) {
  const readable = workflow.error === null ? workflow : null;
  const input = useSignal('');
  const name = useSignal('');
  const budget = useSignal(String(readable?.default_budget_usd ?? ''));
  const model = useSignal('');
  const [isDrawn, setDrawn] = useState(true);
  const { mode = 'optional', label = null, description = null } = readable?.input ?? {};
  const path = `/workflows/${workflow.project}/${workflow.id}`;
  const { data } = usePolled((signal) => get<WorkflowDocument>(path, signal), 0, path);
  const mistakes = (data.value?.findings ?? []).filter(({ level }) => level !== 'info');
  const start = async (): Promise<void> => {
    const { project, run_id } = await send<StartedDocument>('POST', '/runs', {
      project: workflow.project,
      workflow: workflow.id,
      ...(input.value !== '' && { input: input.value }),
      ...(name.value !== '' && { name: name.value }),
      ...(budget.value !== '' && { budget_usd: Number(budget.value) }),
      ...(model.value !== '' && { model: model.value }),
    });
    go(`/runs/${project}/${run_id}`);
  };
  return (
    <>
      <h1>{titleOf(workflow)}</h1>
      {readable?.description && <p>{readable.description}</p>}
      <Failure error={workflow.error === null ? null : new Error(workflow.error)} />
      {mistakes.length > 0 && (
        <ul class="warnings" aria-label="Mistakes">
          {mistakes.map(({ level, file, line, column, message }) => (
            <li key={`${file}:${line}:${column} ${message}`}>
              <strong>{line === 0 ? file : `${file}:${line}:${column}`}</strong> {level}: {message}
            </li>
          ))}
        </ul>
      )}
      <form class="form" onSubmit={(event) => event.preventDefault()}>
        {mode !== 'none' && (
          <label>
            {label ?? 'Input'} {mode === 'required' && <em>required</em>}
            {description && <small>{description}</small>}
            <textarea
              rows={4}
              required={mode === 'required'}
              value={input.value}
              onInput={(event) => (input.value = event.currentTarget.value)}
            />
          </label>
        )}
        <label>
          Name
          <input
            placeholder={workflow.name}
            value={name.value}
            onInput={(event) => (name.value = event.currentTarget.value)}
          />
        </label>
        <label>
          Budget in dollars
          <input
            type="number"
            min="0"
            step="0.01"
            placeholder="as configured"
            value={budget.value}
            onInput={(event) => (budget.value = event.currentTarget.value)}
          />
        </label>
        <label>
          Model
          <input
            placeholder="as configured"
            value={model.value}
            onInput={(event) => (model.value = event.currentTarget.value)}
          />
        </label>
        <Action act={start} kind="main" submits>
          Start
        </Action>
      </form>
      {isDrawn && (
        <Picture
          src={`/api${path}/graph`}
          alt={`The states of ${workflow.name} and their transitions`}
          onError={() => setDrawn(false)}
        />
      )}
    </>
  );
}
