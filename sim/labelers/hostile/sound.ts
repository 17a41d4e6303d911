import { declaration } from '../declarations.ts';
import type { Attack, Exchange, HostileIdentity } from './attack.ts';
import { pageLabels } from './label-bytes.ts';

/** Number of labels that a regular labeler has. */
const labelCount = 3;

/**
 * Returns the behaviour of a regular labeler with three labels. It applies until a labeler becomes hostile, and to
 * requests that its attack does not handle.
 */
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
    record: ({ response }) => sendRecord(response, labeler.did, JSON.stringify(declaration({ values: ['spam'] }))),
  };
}

/** DID of the account to which the regular labels of did:web labelers apply. */
const crowdAccount = `did:plc:${'crowd'.padEnd(24, 'a')}`;

/** Sends a JSON response. */
export function sendJson(response: Exchange['response'], body: unknown, status = 200): void {
  sendText(response, JSON.stringify(body), status);
}

/** Sends text as a JSON response. */
export function sendText(response: Exchange['response'], text: string, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(text);
}

/** Responds to `getRecord` with a record that is given as JSON text. */
export function sendRecord(response: Exchange['response'], did: string, value: string): void {
  const uri = `at://${did}/app.bsky.labeler.service/self`;
  sendText(response, `{"uri":"${uri}","cid":"bafyrei${'a'.repeat(52)}","value":${value}}`);
}
