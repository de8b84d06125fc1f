import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ListedTurn } from '../api.ts';
import { formatDuration, formatUsd } from '../format.ts';
import { VirtualList } from '../virtual-list.tsx';

/** The turns over time, one row each: the bar is work, what is before it is waiting; retries are bars of their own. */
export function Waterfall({ turns, base }: { turns: readonly ListedTurn[]; base: string }) {
  if (turns.length === 0) return <p class="note">No turn has begun yet.</p>;
  const start = Math.min(...turns.slice(0, 100).map((turn) => Date.parse(turn.started_at)));
  const end = turns.reduce(
    (latest, turn) => Math.max(latest, Date.parse(turn.ended_at ?? new Date().toISOString())),
    start + 1,
  );
  return (
    <VirtualList
      items={turns}
      rowHeight={32}
      label="Turns"
      followEnd
      row={(turn) => {
        const from = (Date.parse(turn.started_at) - start) / (end - start);
        const to = (Date.parse(turn.ended_at ?? new Date().toISOString()) - start) / (end - start);
        const state =
          turn.ended_at === null
            ? 'running'
            : turn.failure
              ? 'failed'
              : (turn.denials?.length ?? 0) > 0
                ? 'denied'
                : 'done';
        return (
          <a
            key={`${turn.agent}/${turn.turn}`}
            class="row turn-row"
            href={`${base}/turns/${encodeURIComponent(turn.agent)}/${turn.turn}`}
          >
            <span class="turn-name">
              {turn.agent} · {turn.state} {turn.prompt !== 'state' && <em>{turn.prompt}</em>}
            </span>
            <span class="turn-time">
              <Bar from={from} to={to} state={state} />
            </span>
            <span class="number">
              {turn.duration_ms === undefined ? 'running' : formatDuration(turn.duration_ms)}
              {turn.cost_usd ? ` ${formatUsd(turn.cost_usd)}` : ''}
            </span>
          </a>
        );
      }}
    />
  );
}

function Bar({ from, to, state }: { from: number; to: number; state: string }) {
  const element = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (element.current === null) return;
    element.current.style.marginLeft = `${(from * 100).toFixed(3)}%`;
    element.current.style.width = `max(2px, ${((to - from) * 100).toFixed(3)}%)`;
  });
  return <span ref={element} class={`turn-bar turn-${state}`} />;
}
