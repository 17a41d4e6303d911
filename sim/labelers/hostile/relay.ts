import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { base32 } from '../../events/identifiers.ts';
import { dice } from '../../random.ts';
import { deepJson } from './bytes.ts';
import { crowdPrefix } from './crowd.ts';
import { sendJson, sendText } from './sound.ts';

/** Number of DIDs per page: twice as many as requested. */
const pageSize = 2_000;

/**
 * A relay whose list never ends. It serves crowds, pages that are too large or too deeply nested, and useless cursors.
 */
export class HostileRelay {
  /** Number of requested pages so far. */
  requests = 0;
  /** True during the attack; the list is empty at other times. */
  attacking = false;
  readonly #chance = dice(7);
  readonly #server = createServer((_, response) => {
    this.requests += 1;
    if (!this.attacking) sendJson(response, { repos: [] });
    else if (this.requests % 50 === 0) sendText(response, `{"repos":[${deepJson(200_000)}]}`);
    else if (this.requests % 50 === 25) sendText(response, `{"repos":[${'{},'.repeat(340_000)}{}]}`);
    else {
      const repos = Array.from({ length: pageSize }, () => ({
        did: `${crowdPrefix}${this.#chance.text(base32, 32 - crowdPrefix.length)}`,
      }));
      sendJson(response, { repos, cursor: this.#chance.text(base32, 1_000) });
    }
  });

  /** Starts listening. Resolves with the relay's origin. */
  start(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', () => {
        resolve(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
      });
    });
  }

  /** Ends every connection and stops listening. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}
