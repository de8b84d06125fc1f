import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { recordedExit } from '../../process/turn-files.ts';
import { readJsonFile } from '../json-file.ts';
import type { ProcessPlace } from '../process-turn.ts';
import type { TurnContext } from '../turn-context.ts';
import { CONVERSATION_FILE, CONVERSATION_SCHEMA, conversationPlace } from './conversation.ts';

/** The processes of earlier Raymonds of this run that have not ended, by their conversations. */
export function findLeftBehind(context: TurnContext): Map<string, readonly ProcessPlace[]> {
  const found = new Map<string, readonly ProcessPlace[]>();
  for (const dir of listFolders(context.conversationsFolder)) {
    if (recordedExit(dir) !== undefined) continue;
    const record = readJsonFile(join(dir, CONVERSATION_FILE), CONVERSATION_SCHEMA);
    if (record.kind !== 'data') continue;
    const { session, ...opener } = record.data;
    found.set(session, [...(found.get(session) ?? []), conversationPlace(context, opener)]);
  }
  return found;
}

function listFolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
