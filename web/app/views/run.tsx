import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { type RunDetail, send } from '../api.ts';
import { describeEvent, formatAge, formatClock, formatDuration, formatTokens, formatUsd } from '../format.ts';
import { Action, Choice, Failure, Status } from '../parts.tsx';
import { go } from '../router.ts';
import { RunModel, type ShownEvent } from '../run-model.ts';
import { Markdown } from '../text.tsx';
import { VirtualList } from '../virtual-list.tsx';
import { Turn } from './turn.tsx';
import { Waterfall } from './waterfall.tsx';

const VIEWS = ['agents', 'turns', 'stream', 'graph'] as const;

/** One run: where it stands, what needs a person, its agents, turns, events and graph. */
export function Run({
  project,
  run,
  turn,
}: {
  project: string;
  run: string;
  turn: { agent: string; number: string } | null;
}) {
  const model = useMemo(() => new RunModel(project, run), [project, run]);
  useEffect(() => () => model.close(), [model]);
  const view = useSignal<(typeof VIEWS)[number]>('agents');
  const detail = model.detail.value;
  if (turn !== null)
    return (
      <Turn path={model.path} agent={turn.agent} turn={turn.number} back={`/runs/${project}/${run}`} model={model} />
    );
  return (
    <>
      <Failure error={model.error.value} />
      {!model.isConnected.value && (
        <p class="note" role="status">
          The server does not answer; trying again…
        </p>
      )}
      {detail === null ? (
        model.error.value === null && <p class="note">Loading…</p>
      ) : (
        <Head detail={detail} model={model} />
      )}
      {detail !== null && (
        <>
          <Choice label="View" names={VIEWS} chosen={view.value} choose={(name) => (view.value = name)} />
          {view.value === 'agents' && <Agents detail={detail} />}
          {view.value === 'turns' && <Waterfall turns={model.turns.value} base={`/runs/${project}/${run}`} />}
          {view.value === 'stream' && (
            <VirtualList
              items={model.events.value}
              rowHeight={28}
              label="Events"
              followEnd
              row={(item) => <EventRow item={item} />}
            />
          )}
          {view.value === 'graph' && <Graph path={model.path} seq={detail.seq} name={detail.workflow} />}
        </>
      )}
    </>
  );
}

const LIVE = ['running', 'stopping', 'elsewhere'];

function Head({ detail, model }: { detail: RunDetail; model: RunModel }) {
  const budget = useSignal('');
  const isLive = LIVE.includes(detail.status);
  const act =
    (what: string, body: object = {}) =>
    async () => {
      await send('POST', `${model.path}/${what}`, body);
      model.refresh();
    };
  const raised = budget.value === '' ? {} : { budget_usd: Number(budget.value) };
  return (
    <header class="run-head">
      <h1>
        {detail.name} <Status value={detail.status} />
      </h1>
      <p class="facts">
        <span>{detail.run_id}</span>
        <span>started {formatAge(detail.started_at, Date.now())}</span>
        <span>{formatDuration(detail.worked_ms)} of work</span>
        <span>
          {formatUsd(detail.cost_usd)}
          {detail.budget_usd !== null && ` of ${formatUsd(detail.budget_usd)}`}
          {detail.canned_usd > 0 && ` (${formatUsd(detail.canned_usd)} canned)`}
          {detail.estimated_usd > 0 && ` (${formatUsd(detail.estimated_usd)} estimated)`}
        </span>
        {formatTokens(detail.tokens) !== '' && <span>{formatTokens(detail.tokens)} tokens</span>}
      </p>
      {detail.waits_for !== '' && <p class={detail.needs_you ? 'needs' : 'note'}>{detail.waits_for}</p>}
      {(detail.damage ?? []).map((message) => (
        <p key={message} class="needs">
          {message}
        </p>
      ))}
      <div class="bar">
        {isLive && <Action act={act('stop')}>Stop after the running turns</Action>}
        {isLive && (
          <Action act={act('stop', { now: true })} kind="danger" confirm="End the running turns now?">
            Stop now
          </Action>
        )}
        {!isLive && !['completed', 'failed'].includes(detail.status) && (
          <Action act={act('resume', raised)} kind="main">
            Resume
          </Action>
        )}
        {!isLive && detail.status !== 'completed' && <Action act={act('retry', raised)}>Retry what failed</Action>}
        {!isLive && detail.status !== 'completed' && (
          <label class="inline">
            new budget
            <input
              type="number"
              min="0"
              step="0.01"
              value={budget.value}
              onInput={(event) => (budget.value = event.currentTarget.value)}
            />
          </label>
        )}
        {!isLive && (
          <Action
            kind="danger"
            confirm="Remove this run with all its files?"
            act={async () => {
              await send('DELETE', model.path);
              go('/');
            }}
          >
            Remove
          </Action>
        )}
      </div>
      {detail.warnings.length > 0 && (
        <ul class="warnings">
          {detail.warnings.map((warning) => (
            <li key={`${warning.kind}${warning.state}${warning.message}`}>
              <strong>{warning.state}</strong> {warning.message}{' '}
              {warning.count > 1 && <small>{warning.count} times</small>}
            </li>
          ))}
        </ul>
      )}
    </header>
  );
}

function Agents({ detail }: { detail: RunDetail }) {
  return (
    <>
      <VirtualList
        items={detail.agents}
        rowHeight={64}
        label="Agents"
        row={(agent) => (
          <div key={agent.id} class="row agent-row">
            <span class="run-name">
              <strong>{agent.label}</strong>
              <small>{agent.error ?? agent.result?.trim().split('\n', 1)[0] ?? agent.state}</small>
            </span>
            <Status value={agent.status} />
            <span class="wide">{agent.state}</span>
            <span class="number wide">{agent.turns} turns</span>
            <span class="number">{formatUsd(agent.cost_usd)}</span>
          </div>
        )}
      />
      {detail.archived_agents > 0 && (
        <p class="note">{detail.archived_agents} agents that ended long ago are only in the journal.</p>
      )}
      {detail.agents[0]?.result != null && (
        <section>
          <h2>Result</h2>
          <Markdown text={detail.agents[0].result} />
        </section>
      )}
    </>
  );
}

function EventRow({ item: { key, event } }: { item: ShownEvent }) {
  return (
    <div key={key} class={`row event-row event-${event.kind}`}>
      <time dateTime={event.at}>{formatClock(event.at)}</time>
      <span class="event-agent">{event.agent ?? ''}</span>
      <span class="event-text">{describeEvent(event)}</span>
    </div>
  );
}

/** The picture is drawn anew when the run has moved on. */
function Graph({ path, seq, name }: { path: string; seq: number; name: string }) {
  return (
    <img
      class="graph"
      src={`/api${path}/graph?seq=${seq}`}
      alt={`The states of ${name}, how often each was left, and where the agents are`}
    />
  );
}
