import { afterEach, describe, expect, it } from 'vitest';
import { subscribe } from '../../harness/sim/consumer.ts';
import { type LabelSim, startLabelSim } from '../../harness/sim/label-consumer.ts';

let running: LabelSim | null = null;

async function start(...args: Parameters<typeof startLabelSim>): Promise<LabelSim> {
  running = await startLabelSim(...args);
  return running;
}

afterEach(async () => {
  await running?.sim.stop();
  running = null;
});

interface RelayPage {
  readonly repos: { readonly did: string }[];
  readonly cursor?: string;
}

async function listed(relay: string, limit: number): Promise<{ dids: string[]; pages: number }> {
  const dids: string[] = [];
  let pages = 0;
  for (let cursor: string | undefined; ; ) {
    const query = new URLSearchParams({ collection: 'app.bsky.labeler.service', limit: String(limit) });
    if (cursor !== undefined) query.set('cursor', cursor);
    const answer = await fetch(`${relay}/xrpc/com.atproto.sync.listReposByCollection?${query}`);
    const page = (await answer.json()) as RelayPage;
    pages += 1;
    dids.push(...page.repos.map(({ did }) => did));
    if (page.cursor === undefined) return { dids, pages };
    cursor = page.cursor;
  }
}

describe('simulated relays', () => {
  it('list overlapping sets page by page, including dead accounts, and end without a cursor', async () => {
    const { addresses } = await start({ labelers: 60, population: 'troubled' });
    const [one, other] = await Promise.all(addresses.relays.map((relay) => listed(relay, 7)));
    const known = new Set(addresses.labelers.map(({ did }) => did));
    const both = new Set([...(one?.dids ?? [])].filter((did) => other?.dids.includes(did)));
    expect(one?.pages).toBe(Math.ceil((one?.dids.length ?? 0) / 7));
    expect([...both].filter((did) => known.has(did)).length).toBeGreaterThan(20);
    expect(one?.dids).not.toEqual(other?.dids);
    expect(one?.dids.filter((did) => !known.has(did)).length).toBe(5);
  });

  it('can be down, or return the same page forever', async () => {
    const { addresses, sim } = await start();
    const [relay] = sim.labelers.relays;
    const ask = async (more: Readonly<Record<string, string>> = {}) => {
      // Request pages of one DID, so that consecutive pages differ.
      const query = new URLSearchParams({ collection: 'app.bsky.labeler.service', limit: '1', ...more });
      return fetch(`${addresses.relays[0]}/xrpc/com.atproto.sync.listReposByCollection?${query}`);
    };
    const first = (await (await ask()).json()) as RelayPage;
    const second = (await (await ask({ cursor: first.cursor ?? '' })).json()) as RelayPage;
    expect([first.repos, second.repos].map(({ length }) => length)).toEqual([1, 1]);
    expect(second.repos).not.toEqual(first.repos);
    if (relay) relay.state = 'endless_pages';
    const endless = (await (await ask()).json()) as RelayPage;
    expect(endless).toEqual({ repos: first.repos, cursor: expect.any(String) as string });
    expect(await (await ask({ cursor: endless.cursor ?? '' })).json()).toEqual(endless);
    if (relay) relay.state = 'down';
    expect((await ask()).status).toBe(502);
    expect(relay?.fired).toEqual(
      new Map([
        ['up', 2],
        ['endless_pages', 2],
        ['down', 1],
      ]),
    );
  });
});

describe('the simulated directory', () => {
  it.each([
    ['no_document', 404],
    ['tombstone', 410],
    ['no_service', 200],
    ['no_key', 200],
    ['other_did', 200],
    ['html', 200],
  ] as const)('responds according to the state of a DID (%s, status %i)', async (state, status) => {
    const { addresses, sim, ozone } = await start();
    sim.labelers.directory.set(ozone.did, state);
    const answer = await fetch(`${addresses.plc}/${ozone.did}`);
    const text = await answer.text();
    expect(answer.status).toBe(status);
    expect(text.includes('AtprotoLabeler')).toBe(state === 'no_key' || state === 'other_did');
    expect(text.includes('publicKeyMultibase')).toBe(state === 'no_service' || state === 'other_did');
    expect(sim.labelers.directory.fired.get(state)).toBe(1);
  });

  it('returns an old endpoint and an old key of a labeler until its document is unfrozen', async () => {
    const { sim, ozone } = await start();
    const { directory } = sim.labelers;
    await directory.freeze(ozone.did);
    const before = await directory.document(ozone.did);
    ozone.faults.rotateKey();
    await ozone.faults.move();
    expect(await directory.document(ozone.did)).toEqual(before);
    directory.thaw(ozone.did);
    expect(await directory.document(ozone.did)).not.toEqual(before);
  });

  it('does not serve did:web documents, which the labeler serves itself', async () => {
    const { ozone, addresses } = await start({ shapeLabeler: ({ index }) => ({ didWeb: index === 0 }) });
    expect(ozone.did).toMatch(/^did:web:localhost%3A\d+$/);
    const document = await (await fetch(`${ozone.endpoint}/.well-known/did.json`)).json();
    expect(document).toMatchObject({ id: ozone.did });
    expect((await fetch(`${addresses.plc}/${ozone.did}`)).status).toBe(404);
  });
});

describe('the simulated Jetstream', () => {
  it('sends declaration and identity events in order', async () => {
    const { sim, addresses, ozone, skyware, pass } = await start();
    const consumer = await subscribe(addresses.jetstream, { wantedCollections: 'app.bsky.labeler.service' });
    sim.labelers.declare(ozone.did, 'update');
    sim.labelers.declare(skyware.did, 'delete');
    sim.labelers.announceIdentity(ozone.did);
    pass(5);
    await consumer.received(3);
    const events = consumer.frames.map((frame) => JSON.parse(frame) as Record<string, unknown>);
    const mine = events.filter(({ did }) => did === ozone.did || did === skyware.did);
    expect(mine).toMatchObject([
      { did: ozone.did, kind: 'commit', commit: { operation: 'update', rkey: 'self', record: { policies: {} } } },
      { did: skyware.did, kind: 'commit', commit: { operation: 'delete' } },
      { did: ozone.did, kind: 'identity', identity: { did: ozone.did } },
    ]);
    await consumer.close();
  });
});
