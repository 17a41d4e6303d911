/** The accounts of the real network, which act through the real client library. Every confirmed operation is recorded. */
import { AtpAgent } from '@atproto/api';
import { createUpdateOp } from '@did-plc/lib';
import { until } from '../process/until.ts';

/** Creates accounts at a host. Returns their DIDs and clients. */
export async function createPeople(ledger, pds, count, name = 'person') {
  const people = [];
  for (let n = 0; n < count; n += 1) {
    const agent = new AtpAgent({ service: pds });
    const handle = `${name}-${n}.test`;
    await agent.createAccount({ email: `${name}-${n}@example.com`, handle, password: `password-${n}` });
    const { did } = agent.session;
    ledger.announce(did, 'identity', 'account');
    people.push({ did, handle, agent, records: [] });
  }
  return people;
}

/**
 * Creates a record, and records the operation that the host confirmed. The host deletes an earlier record of the same
 * collection and subject in the same commit.
 */
export async function create(ledger, person, collection, fields, shape) {
  const { did, records } = person;
  const record = { $type: collection, createdAt: new Date().toISOString(), ...fields };
  const { data } = await person.agent.com.atproto.repo.createRecord({ repo: did, collection, record });
  const { rev } = data.commit;
  const subject = fields.subject === undefined ? null : (fields.subject.uri ?? fields.subject);
  const isReplaced = (one) => subject !== null && one.collection === collection && one.subject === subject;
  for (const { rkey } of records.filter(isReplaced)) {
    ledger.operation({ did, rev, collection, rkey, operation: 'delete' });
  }
  const rkey = data.uri.split('/').at(-1);
  ledger.operation({ did, rev, collection, rkey, operation: 'create', shape });
  const made = { uri: data.uri, cid: data.cid, collection, rkey, subject };
  person.records = [...records.filter((one) => !isReplaced(one)), made];
  return made;
}

/** Writes a record with a fixed key: a `create` if it does not exist, an `update` otherwise. */
export async function put(ledger, person, collection, rkey, fields) {
  const record = { $type: collection, createdAt: new Date().toISOString(), ...fields };
  const known = await person.agent.com.atproto.repo
    .getRecord({ repo: person.did, collection, rkey })
    .then(() => true)
    .catch(() => false);
  const { data } = await person.agent.com.atproto.repo.putRecord({ repo: person.did, collection, rkey, record });
  const operation = known ? 'update' : 'create';
  ledger.operation({ did: person.did, rev: data.commit.rev, collection, rkey, operation });
}

/** Deletes a record. */
export async function remove(ledger, person, { collection, rkey }) {
  const { data } = await person.agent.com.atproto.repo.deleteRecord({ repo: person.did, collection, rkey });
  ledger.operation({ did: person.did, rev: data.commit.rev, collection, rkey, operation: 'delete' });
  person.records = person.records.filter((record) => record.collection !== collection || record.rkey !== rkey);
}

/** Creates several posts in one commit. */
async function createTogether(ledger, person, texts) {
  const collection = 'app.bsky.feed.post';
  const writes = texts.map((text) => ({
    $type: 'com.atproto.repo.applyWrites#create',
    collection,
    value: { $type: collection, text, createdAt: new Date().toISOString() },
  }));
  const { data } = await person.agent.com.atproto.repo.applyWrites({ repo: person.did, writes });
  for (const { uri, cid } of data.results) {
    const rkey = uri.split('/').at(-1);
    ledger.operation({ did: person.did, rev: data.commit.rev, collection, rkey, operation: 'create' });
    person.records.push({ uri, cid, collection, rkey });
  }
}

/** Lets one person act on others: every kind of event that is counted, creations and removals. */
export async function act(ledger, person, others, round) {
  const [other, another] = others;
  const post = await create(ledger, person, 'app.bsky.feed.post', { text: `Post ${round}` });
  const { uri, cid } = post;
  const theirs = other.records.find(({ collection }) => collection === 'app.bsky.feed.post');
  if (theirs !== undefined) {
    const subject = { uri: theirs.uri, cid: theirs.cid };
    const reply = { root: subject, parent: subject };
    const embed = { $type: 'app.bsky.embed.record', record: subject };
    await create(ledger, person, 'app.bsky.feed.like', { subject });
    await create(ledger, person, 'app.bsky.feed.repost', { subject });
    await create(ledger, person, 'app.bsky.feed.post', { text: 'A reply', reply }, 'reply');
    await create(ledger, person, 'app.bsky.feed.post', { text: 'A quote', embed }, 'quote');
  }
  const like = await create(ledger, person, 'app.bsky.feed.like', { subject: { uri, cid } });
  const follow = await create(ledger, person, 'app.bsky.graph.follow', { subject: other.did });
  const block = await create(ledger, person, 'app.bsky.graph.block', { subject: another.did });
  await put(ledger, person, 'app.bsky.actor.profile', 'self', { displayName: `Person in round ${round}` });
  await createTogether(ledger, person, ['One', 'Two', 'Three']);
  if (round % 2 === 1) {
    for (const record of [like, follow, block]) await remove(ledger, person, record);
    await remove(
      ledger,
      person,
      person.records.find(({ collection }) => collection === post.collection),
    );
  }
}

/**
 * Changes accounts in every way that the host announces: deactivates and activates some, takes some down and restores
 * them, changes handles, and deletes an account. The changed accounts do not act at the same time.
 */
export async function changeAccounts(ledger, people, { pds, takeDown }) {
  const [one, two, three, last] = people;
  await one.agent.com.atproto.server.deactivateAccount({});
  await takeDown(two.did, true);
  await three.agent.com.atproto.identity.updateHandle({ handle: `new-${three.handle}` });
  await one.agent.com.atproto.server.activateAccount();
  await takeDown(two.did, false);
  await new AtpAgent({ service: pds.url }).com.atproto.admin.deleteAccount(
    { did: last.did },
    { headers: pds.adminAuthHeaders(), encoding: 'application/json' },
  );
  // The takedowns are recorded where they are done.
  ledger.announce(one.did, 'account', 'account', 'identity');
  ledger.announce(three.did, 'identity');
  ledger.announce(last.did, 'account');
}

/**
 * Moves an account to another host, as its own client does: the new host takes the account over from a token of the old
 * one, its repository, and a document that names the new host and key. The old host then deactivates the account, which the
 * relay does not pass on once it has announced the account at its new host (`isAnnounced`).
 */
export async function moveAccount(ledger, person, { from, to, isAnnounced }) {
  const { agent: old, did } = person;
  const lxm = 'com.atproto.server.createAccount';
  const { token } = (await old.com.atproto.server.getServiceAuth({ aud: to.ctx.cfg.service.did, lxm })).data;
  const agent = new AtpAgent({ service: to.url });
  const [handle, password] = [`moved-${person.handle}`, 'password'];
  const account = { email: `${handle.replaceAll('.', '-')}@example.com`, handle, password, did };
  await agent.createAccount(account, { headers: { Authorization: `Bearer ${token}` } });
  // The document still names the old host, which the client would ask from now on.
  agent.sessionManager.pdsUrl = undefined;
  const repository = await old.com.atproto.sync.getRepo({ did });
  await agent.com.atproto.repo.importRepo(repository.data, { encoding: 'application/vnd.ipld.car' });
  const { data } = await agent.com.atproto.identity.getRecommendedDidCredentials();
  const last = await from.ctx.plcClient.getLastOp(did);
  const operation = await createUpdateOp(last, from.ctx.plcRotationKey, (document) => ({ ...document, ...data }));
  await agent.com.atproto.identity.submitPlcOperation({ operation });
  const time = Date.now();
  await agent.com.atproto.server.activateAccount();
  await until(`the relay announces ${did} at its new host`, () => isAnnounced(did, time));
  await old.com.atproto.server.deactivateAccount({});
  // The new host announces the document, and then the account with its handle.
  ledger.announce(did, 'identity', 'identity', 'account');
  Object.assign(person, { agent, handle });
}
