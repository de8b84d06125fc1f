import { useSignal } from '@preact/signals';
import type { CostsDocument } from '../../../src/documents/types.ts';
import { get } from '../api.ts';
import { formatTokens, formatUsd } from '../format.ts';
import { Choice, Failure } from '../parts.tsx';
import { usePolled } from '../poll.ts';

const GROUPS = ['day', 'workflow', 'state', 'model', 'run'];

/** The costs of all runs. */
export function Costs() {
  const by = useSignal('day');
  const path = `/costs?by=${by.value}`;
  const { data, error } = usePolled((signal) => get<CostsDocument>(path, signal), 0, path);
  const rows = data.value?.rows ?? [];
  const most = Math.max(0.000001, ...rows.map(({ paid_usd, canned_usd }) => paid_usd + canned_usd));
  return (
    <>
      <h1>Costs</h1>
      <Failure error={error.value} />
      <Choice label="Costs by" names={GROUPS} chosen={by.value} choose={(name) => (by.value = name)} />
      {data.value !== null && rows.length === 0 && <p class="note">Nothing has been spent yet.</p>}
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>{by.value}</th>
              <th class="wide" />
              <th class="number">cost</th>
              <th class="number wide">turns</th>
              <th class="number">tokens</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                <td>{row.key}</td>
                <td class="wide">
                  <meter min={0} max={most} value={row.paid_usd + row.canned_usd} />
                </td>
                <td class="number">
                  {formatUsd(row.paid_usd)}
                  {row.canned_usd > 0 && <small> + {formatUsd(row.canned_usd)} canned</small>}
                </td>
                <td class="number wide">{row.turns}</td>
                <td class="number">{formatTokens(row.tokens)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th>total</th>
              <td class="wide" />
              <td class="number">{formatUsd(data.value?.total.paid_usd ?? 0)}</td>
              <td class="number wide">{data.value?.total.turns}</td>
              <td class="number">{formatTokens(data.value?.total.tokens)}</td>
            </tr>
          </tfoot>
        </table>
      )}
    </>
  );
}
