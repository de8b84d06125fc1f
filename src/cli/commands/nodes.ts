import type { NodeInfo } from '../../app/launcher.ts';
import type { NodesDocument } from '../../documents/types.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { formatAge } from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import { createRenderContext } from '../../render/terminal/terminal.ts';
import type { CommandHandler } from '../command.ts';
import { requireDatabaseAddress, withStorage } from '../open-storage.ts';

/** `raymond nodes`: lists the machines that drive runs of a database. */
export const handleNodes: CommandHandler = async (_, options, terminal) => {
  const address = requireDatabaseAddress(options, terminal);
  const nodes = await withStorage(address, terminal, ({ launcher }) => launcher.listNodes());
  if (options.json) terminal.out(`${formatJson(createNodesDocument(nodes))}\n`);
  else if (nodes.length === 0) terminal.out('No node has used this database. `raymond node` starts one.\n');
  else terminal.out(`${renderTable(nodes, NODE_COLUMNS, createRenderContext(terminal)).join('\n')}\n`);
  return EXIT.completed;
};

const NODE_COLUMNS: readonly Column<NodeInfo>[] = [
  { title: 'NODE', cell: ({ name }) => sanitizeLine(name) },
  {
    title: 'STATUS',
    cell: ({ status }) => status,
    style: ({ status }) => (status === 'alive' ? 'green' : status === 'gone' ? 'red' : 'yellow'),
  },
  { title: 'SLOTS', cell: ({ slots }) => String(slots), align: 'right' },
  { title: 'TURNS', cell: ({ running, queued }) => `${running}${queued === 0 ? '' : ` + ${queued} queued`}` },
  { title: 'RUNS', cell: ({ runs }) => String(runs), align: 'right' },
  { title: 'HEARTBEAT', cell: ({ silentMs }) => `${formatAge(0, silentMs)} ago`, align: 'right' },
  { title: 'HOST', cell: ({ host }) => sanitizeLine(host), spare: true },
  { title: 'LABELS', cell: ({ labels }) => sanitizeLine(labels.join(' ')), spare: true },
];

const createNodesDocument = (nodes: readonly NodeInfo[]): NodesDocument => ({
  nodes: nodes.map((node) => ({
    name: node.name,
    host: node.host,
    status: node.status,
    slots: node.slots,
    turns_running: node.running,
    turns_queued: node.queued,
    runs: node.runs,
    heartbeat_age_ms: node.silentMs,
    labels: node.labels,
  })),
});
