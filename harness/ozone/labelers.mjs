/** Labelers by several authors, with accounts at the real host. Every label that they confirm is recorded. */
import { join } from 'node:path';
import { Secp256k1Keypair } from '@atproto/crypto';
import { createUpdateOp } from '@did-plc/lib';
import { LabelerServer } from '@skyware/labeler';
import { freePort } from '../net/ports.ts';
import { startPageFront } from '../network/fronts.ts';
import { startGoLabeler } from '../network/peers.ts';
import { put } from './people.mjs';
import { startTcpRelay } from './tcp-relay.mjs';

/** Label values that every labeler of the harness declares. */
export const values = ['spam', 'rude', 'scam'];
const collection = 'app.bsky.labeler.service';

/** Parts that all labelers have: the account, the entries of the directory, the record. */
class Labeler {
  constructor({ network, ledger }, name, person) {
    Object.assign(this, { network, ledger, name, person, did: person.did });
  }

  /** Changes the account's document through the host, which announces the change. */
  async update(change) {
    const { plc, pds } = this.network;
    const last = await plc.getClient().getLastOp(this.did);
    const operation = await createUpdateOp(last, pds.ctx.plcRotationKey, change);
    await this.person.agent.com.atproto.identity.submitPlcOperation({ operation });
    this.ledger.announce(this.did, 'identity');
  }

  /** Registers a key and an endpoint. */
  declare(key, endpoint) {
    return this.update((data) => ({
      ...data,
      verificationMethods: { ...data.verificationMethods, atproto_label: key },
      services: { ...data.services, atproto_labeler: { type: 'AtprotoLabeler', endpoint } },
    }));
  }

  /**
   * Writes the record that declares the account a labeler. A later record of the run is not seen: an instrument takes
   * the record of a new labeler at most once an hour.
   */
  async writeRecord(labelValues = values) {
    this.values ??= labelValues;
    const labelValueDefinitions = labelValues.map((identifier) => ({
      ...{ identifier, severity: 'inform', blurs: 'none', defaultSetting: 'warn', adultOnly: false },
      locales: [{ lang: 'en', name: `${identifier} of ${this.name}`, description: `What ${this.name} calls it` }],
    }));
    await put(this.ledger, this.person, collection, 'self', { policies: { labelValues, labelValueDefinitions } });
  }

  /** Removes the service from the account's document. */
  withdraw() {
    return this.update(({ services: { atproto_labeler: _, ...services }, ...data }) => ({ ...data, services }));
  }

  async deleteRecord() {
    const { agent, did } = this.person;
    const { data } = await agent.com.atproto.repo.deleteRecord({ repo: did, collection, rkey: 'self' });
    this.ledger.operation({ did, rev: data.commit.rev, collection, rkey: 'self', operation: 'delete' });
  }
}

/** The real Ozone of the development network. */
export class OzoneLabeler extends Labeler {
  async label({ uri, cid, val, neg = false }) {
    const subject =
      cid === undefined
        ? { $type: 'com.atproto.admin.defs#repoRef', did: uri }
        : { $type: 'com.atproto.repo.strongRef', uri, cid };
    const lists = neg
      ? { createLabelVals: [], negateLabelVals: [val] }
      : { createLabelVals: [val], negateLabelVals: [] };
    const event = { $type: 'tools.ozone.moderation.defs#modEventLabel', ...lists };
    await this.network.ozone.getModClient().emitEvent({ event, subject });
    this.ledger.label({ labeler: this.did, uri, cid, val, neg, cts: null });
  }

  async stop() {}
}

/** A labeler of `@skyware/labeler`. With `pagesOnly` it refuses its stream. */
export class SkywareLabeler extends Labeler {
  static async start(stage, person, { pagesOnly }) {
    const labeler = new SkywareLabeler(stage, pagesOnly ? 'Skyware by pages' : 'Skyware', person);
    labeler.pagesOnly = pagesOnly;
    labeler.database = join(stage.home, `skyware-${person.did.slice(-8)}.db`);
    labeler.port = await freePort();
    await labeler.rotate();
    return labeler;
  }

  /** Starts the server with a new key, at the same endpoint, and registers both. */
  async rotate() {
    await this.stop();
    const key = await Secp256k1Keypair.create({ exportable: true });
    const signingKey = Buffer.from(await key.export()).toString('hex');
    this.server = new LabelerServer({ did: this.did, signingKey, dbPath: this.database });
    const address = await new Promise((resolve, reject) =>
      this.server.start({ port: this.port, host: '127.0.0.1' }, (error, at) => (error ? reject(error) : resolve(at))),
    );
    this.front = this.pagesOnly ? await startPageFront(address) : null;
    await this.declare(key.did(), this.front?.url ?? `http://localhost:${this.port}`);
  }

  async label({ uri, cid, val, neg = false, exp }) {
    const { cts } = await this.server.createLabel({ uri, cid, val, neg, exp });
    this.ledger.label({ labeler: this.did, uri, cid, val, neg, exp, cts });
  }

  async stop() {
    this.front?.close();
    await this.server?.app.close();
  }
}

/** The labeler in Go, behind a relay that gives it a stable endpoint. */
export class GoLabeler extends Labeler {
  static async start(stage, person, file) {
    const labeler = new GoLabeler(stage, 'Go', person);
    Object.assign(labeler, { file, home: stage.home, database: join(stage.home, 'go-labels.db') });
    labeler.key = await Secp256k1Keypair.create({ exportable: true });
    await labeler.move();
    return labeler;
  }

  /** Starts the server at a new endpoint, closes the former one, and registers the new one. */
  async move() {
    await this.stop();
    const privateKey = Buffer.from(await this.key.export()).toString('hex');
    const { did, database } = this;
    this.server = await startGoLabeler(this.file, this.home, { did, database, privateKey, values });
    this.relay = await startTcpRelay(Number(new URL(this.server.url).port));
    await this.declare(this.key.did(), this.relay.url);
  }

  async label({ uri, cid, val, neg = false, exp }) {
    const response = await fetch(this.server.adminUrl, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ uri, cid, val, neg, exp }),
    });
    if (response.status !== 201) throw new Error(`the labeler in Go responded ${response.status}`);
    this.ledger.label({ labeler: this.did, uri, cid, val, neg, exp, cts: null });
  }

  async stop() {
    this.relay?.close();
    await this.server?.peer.signal('SIGTERM');
  }
}
