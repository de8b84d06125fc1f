import type { ListedTurnDocument, LogEntryDocument, TurnDocument } from '../../../src/documents/types.ts';
import { get } from '../api.ts';
import { describeEntry, formatDuration, formatStatus, formatTokens, formatUsd, isError } from '../format.ts';
import { Failure } from '../parts.tsx';
import { usePolled } from '../poll.ts';
import type { RunModel } from '../run-model.ts';
import { Talk } from '../talk.tsx';
import { Cut, Markdown, Output } from '../text.tsx';
import { VirtualList } from '../virtual-list.tsx';

/** One turn: the prompt as it was sent, what was said and done, the answer, its cost. */
export function Turn({ agent, turn, back, model }: { agent: string; turn: string; back: string; model: RunModel }) {
  void model.version.value;
  const url = `${model.path}/turns/${encodeURIComponent(agent)}/${turn}`;
  const listed = model.findTurn(agent, turn);
  const isRunning = listed?.ended_at === null;
  const { data, error } = usePolled((signal) => get<TurnDocument>(url, signal), 0, `${url} ${isRunning}`);
  const detail = data.value;
  const record = listed ?? detail?.record ?? null;
  return (
    <>
      <p>
        <a href={back}>← back to the run</a>
      </p>
      <h1>
        {agent} · {record?.evaluator ?? record?.state ?? ''} · turn {turn}
      </h1>
      {record !== null && <Facts record={record} />}
      <Failure error={error.value} />
      {detail === null && error.value === null && <p class="note">Loading…</p>}
      {isRunning && <Talk agents={model.detail.value?.agents.filter(({ id }) => id === agent) ?? []} model={model} />}
      {detail !== null && isRunning && <Live detail={detail} model={model} agent={agent} turn={turn} />}
      {detail !== null && !isRunning && <Ended detail={detail} />}
      {detail !== null && detail.prompt !== null && (
        <details>
          <summary>Prompt as it was sent</summary>
          <Cut value={detail.prompt} />
        </details>
      )}
      {detail !== null && detail.stderr.text !== '' && (
        <details>
          <summary>stderr</summary>
          <Cut value={detail.stderr} />
        </details>
      )}
    </>
  );
}

function Facts({ record }: { record: ListedTurnDocument }) {
  const {
    started_at,
    ended_at,
    duration_ms,
    cost_usd,
    estimated,
    canned,
    tokens,
    failure,
    denials = [],
    prompt,
  } = record;
  const note = canned ? ' (canned)' : estimated ? ' (estimated)' : '';
  return (
    <>
      <p class="facts">
        <span>{ended_at === null ? 'running' : failure ? `failed: ${formatStatus(failure)}` : 'done'}</span>
        {prompt !== 'state' && <span>{prompt}</span>}
        <span>started {new Date(started_at).toLocaleString()}</span>
        {duration_ms !== undefined && <span>{formatDuration(duration_ms)}</span>}
        {cost_usd !== undefined && cost_usd > 0 && (
          <span>
            {formatUsd(cost_usd)}
            {note}
          </span>
        )}
        {formatTokens(tokens) !== '' && <span>{formatTokens(tokens)} tokens</span>}
      </p>
      {denials.length > 0 && (
        <ul class="warnings" aria-label="Denied tools">
          {denials.map((denial) => (
            <li key={denial}>
              <strong>Denied</strong> {denial}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** A turn that is under way: what it had said when the page asked, and what came since. */
function Live({ detail, model, agent, turn }: { detail: TurnDocument; model: RunModel; agent: string; turn: string }) {
  const live = model.live.get(agent);
  const isSame = live !== undefined && String(live.turn) === turn;
  // Of a script, its output stands for its entries.
  const known = detail.prompt === null ? [] : detail.entries;
  const entries = isSame ? [...known.slice(0, live.first), ...live.entries] : known;
  return (
    <section aria-label="What it says and does" aria-live="polite">
      <h2>At this moment</h2>
      {entries.length === 0 ? (
        <p class="note">It has not said anything yet.</p>
      ) : (
        <Entries entries={entries} followEnd />
      )}
    </section>
  );
}

function Ended({ detail }: { detail: TurnDocument }) {
  return (
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
        <h2>{detail.prompt === null ? 'Output' : 'Answer'}</h2>
        <Cut value={detail.answer} as={detail.prompt === null ? Output : Markdown} />
      </section>
      {detail.entries.length > 0 && (
        <details>
          <summary>What it said and did ({detail.entries.length})</summary>
          <Entries entries={detail.entries} />
          {detail.entries_left_out > 0 && <p class="note">{detail.entries_left_out} more are on disk.</p>}
        </details>
      )}
    </>
  );
}

/** Few entries are shown with all their text, many with a line each. */
const MAX_WHOLE = 100;

function Entries({ entries, followEnd = false }: { entries: readonly LogEntryDocument[]; followEnd?: boolean }) {
  if (entries.length > MAX_WHOLE)
    return (
      <VirtualList
        items={entries.map((entry, at) => ({ entry, at }))}
        rowHeight={28}
        label="What it said and did"
        followEnd={followEnd}
        keyOf={({ at }) => at}
        row={({ entry }) => (
          <div class={`row entry-row entry-${entry.kind} ${isError(entry) ? 'is-bad' : ''}`}>
            {describeEntry(entry)}
          </div>
        )}
      />
    );
  return (
    <ol class="entries">
      {entries.map((entry, index) => (
        // Entries are only ever added at the end.
        <li key={index} class={`entry-${entry.kind} ${isError(entry) ? 'is-bad' : ''}`}>
          {entry.kind === 'says' ? <Markdown text={entry.text} /> : <Entry entry={entry} />}
        </li>
      ))}
    </ol>
  );
}

function Entry({ entry }: { entry: LogEntryDocument }) {
  if (entry.kind === 'uses')
    return (
      <>
        <strong>{entry.tool}</strong> <code>{entry.detail}</code>
      </>
    );
  if (entry.kind === 'retries' || entry.kind === 'left_out') return <>{describeEntry(entry)}</>;
  return <Output text={entry.text} />;
}
