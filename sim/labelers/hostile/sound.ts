import { declaration } from '../declarations.ts';
import type { Attack, Exchange, HostileIdentity } from './attack.ts';
import { pageLabels } from './label-bytes.ts';

/** Labels that a labeler has which has little to say. */
const labelCount = 3;

/** Answers like a sound labeler with three labels: what labelers do before they turn, and in everything that they leave out. */
export function soundAttack(labeler: HostileIdentity, nowMs: number): Required<Pick<Attack, 'page' | 'record'>> {
  const account = `did:plc:${labeler.did.slice(-24)}`;
  const labels = pageLabels(
    labeler.did,
    /^did:plc:[a-z2-7]{24}$/.test(account) ? account : crowdAccount,
    0,
    labelCount,
    nowMs,
  );
  return {
    page: ({ response, target }) => {
      const cursor = Number(target.searchParams.get('cursor') ?? 0);
      const rest = labels.slice(Number.isSafeInteger(cursor) && cursor >= 0 ? cursor : 0);
      sendJson(response, rest.length > 0 ? { cursor: String(labelCount), labels: rest } : { labels: [] });
    },
    record: ({ response }) => sendRecord(response, labeler.did, JSON.stringify(declaration(['spam']))),
  };
}

/** An account that hostile labels are about. */
export const crowdAccount = `did:plc:${'crowd'.padEnd(24, 'a')}`;

/** Answers with JSON. */
export function sendJson(response: Exchange['response'], body: unknown, status = 200): void {
  sendText(response, JSON.stringify(body), status);
}

/** Answers with text that calls itself JSON. */
export function sendText(response: Exchange['response'], text: string, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(text);
}

/** Answers `getRecord` with a record that is JSON text already. */
export function sendRecord(response: Exchange['response'], did: string, value: string): void {
  const uri = `at://${did}/app.bsky.labeler.service/self`;
  sendText(response, `{"uri":"${uri}","cid":"bafyrei${'a'.repeat(52)}","value":${value}}`);
}
