import { useSignal } from '@preact/signals';
import type { AgentStatusDocument } from '../../src/documents/types.ts';
import { send } from './api.ts';
import { Action } from './parts.tsx';
import type { RunModel } from './run-model.ts';

/** Agents that nothing can be said to any more. */
const DEAF = new Set(['ended', 'failed', 'limited', 'cancelled', 'cancelling']);

/** More to choose from is no choice. */
const MAX_SHOWN = 200;

const WORDS: Readonly<Record<string, string>> = {
  turn: 'It is heard in the running turn.',
  prompt: 'It is put before the next prompt.',
  resume: 'It is heard when the run continues.',
  unknown: 'It is kept, but the process of the run does not respond.',
};

/** A line to the agents that are at work, or to one of them. Nothing if there is none. */
export function Talk({ agents, model }: { agents: readonly AgentStatusDocument[]; model: RunModel }) {
  const hearing = agents.filter(({ status }) => !DEAF.has(status)).slice(0, MAX_SHOWN);
  const chosen = useSignal('');
  const text = useSignal('');
  const note = useSignal('');
  const agent = hearing.find(({ id }) => id === chosen.value) ?? hearing[0];
  if (agent === undefined) return null;
  const tell = (what: 'say' | 'interrupt') => async (): Promise<void> => {
    note.value = '';
    const { delivery } = await send<{ delivery?: string }>('POST', `${model.path}/${what}`, {
      agent: agent.id,
      text: text.value,
    });
    note.value = what === 'say' ? (WORDS[delivery ?? ''] ?? '') : `${agent.label} is interrupted.`;
    text.value = '';
    model.refresh();
  };
  const canInterrupt = agent.status === 'running' && agent.state.endsWith('.md');
  return (
    <form class="talk" onSubmit={(event) => event.preventDefault()}>
      <label>
        Say to{' '}
        {hearing.length === 1 ? (
          agent.label
        ) : (
          <select value={agent.id} onChange={(event) => (chosen.value = event.currentTarget.value)}>
            {hearing.map(({ id, label, state }) => (
              <option key={id} value={id}>
                {label} in {state}
              </option>
            ))}
          </select>
        )}
        <textarea
          rows={2}
          aria-label="What to say"
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </label>
      <div class="bar">
        <Action act={tell('say')} kind="main" submits>
          Say it
        </Action>
        {canInterrupt && (
          <Action act={tell('interrupt')} confirm={`Interrupt ${agent.label}?`}>
            {text.value.trim() === '' ? 'Interrupt and be asked' : 'Interrupt, and continue with this'}
          </Action>
        )}
        <small class="note" role="status">
          {note.value}
        </small>
      </div>
    </form>
  );
}
