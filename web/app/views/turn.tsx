import { get, type TurnDetail } from '../api.ts';
import { formatDuration, formatTokens, formatUsd } from '../format.ts';
import { Failure } from '../parts.tsx';
import { usePolled } from '../poll.ts';
import type { RunModel } from '../run-model.ts';
import { Cut, Markdown, Output } from '../text.tsx';

/** One turn: the prompt as it was sent, what was said and done, the answer, its cost. */
export function Turn(props: { path: string; agent: string; turn: string; back: string; model: RunModel }) {
  const { path, agent, turn, back, model } = props;
  const url = `${path}/turns/${encodeURIComponent(agent)}/${turn}`;
  const listed = model.turns.value.find((each) => each.agent === agent && String(each.turn) === turn);
  const isRunning = listed?.ended_at === null;
  const { data, error } = usePolled(
    (signal) => get<TurnDetail>(url, signal),
    isRunning ? 1_000 : 0,
    `${url} ${isRunning}`,
  );
  const detail = data.value;
  return (
    <>
      <p>
        <a href={back}>← back to the run</a>
      </p>
      <h1>
        {agent} · {listed?.state ?? `turn ${turn}`}
      </h1>
      <p class="facts">
        <span>turn {turn}</span>
        {listed?.duration_ms !== undefined && <span>{formatDuration(listed.duration_ms)}</span>}
        {listed?.cost_usd !== undefined && <span>{formatUsd(listed.cost_usd)}</span>}
        {formatTokens(listed?.tokens) !== '' && <span>{formatTokens(listed?.tokens)} tokens</span>}
        {listed?.failure && <span class="needs">{listed.failure}</span>}
      </p>
      {(listed?.denials?.length ?? 0) > 0 && <p class="needs">Not permitted: {listed?.denials?.join(', ')}</p>}
      <Failure error={error.value} />
      {detail !== null && (
        <>
          {detail.changed_files.length > 0 && (
            <section>
              <h2>Files it changed</h2>
              <ul>
                {detail.changed_files.map((file) => (
                  <li key={file}>
                    <code>{file}</code>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <section>
            <h2>Answer</h2>
            <Cut value={detail.answer} as={detail.prompt === null ? Output : Markdown} />
          </section>
          {detail.prompt !== null && (
            <details>
              <summary>Prompt as it was sent</summary>
              <Cut value={detail.prompt} />
            </details>
          )}
          {detail.entries.length > 0 && (
            <details open={isRunning}>
              <summary>What it said and did ({detail.entries.length})</summary>
              <ol class="entries">
                {detail.entries.map((entry, index) => (
                  // Entries are only ever added at the end.
                  <li key={index} class={`entry-${entry.kind}`}>
                    {entry.tool !== undefined && <strong>{entry.tool} </strong>}
                    {entry.kind === 'says' ? (
                      <Markdown text={entry.text ?? ''} />
                    ) : (
                      <code>{entry.detail ?? entry.text}</code>
                    )}
                  </li>
                ))}
              </ol>
              {detail.entries_left_out > 0 && <p class="note">{detail.entries_left_out} more are on disk.</p>}
            </details>
          )}
          {detail.stderr.text !== '' && (
            <details>
              <summary>stderr</summary>
              <Cut value={detail.stderr} />
            </details>
          )}
        </>
      )}
    </>
  );
}
