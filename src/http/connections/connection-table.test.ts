import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type ConnectionBounds, ConnectionTable } from './connection-table.ts';

const bounds: ConnectionBounds = { total: 3, perClient: null, stallMs: 1_000 };

/** A simulated connection; the test determines how many bytes its peer reads. */
class Peer extends EventEmitter {
  writableLength = 0;
  bytesWritten = 0;
  destroyed = false;
  readonly remoteAddress: string;

  constructor(remoteAddress = '192.0.2.1') {
    super();
    this.remoteAddress = remoteAddress;
  }

  send(bytes: number): void {
    this.writableLength += bytes;
    this.bytesWritten += bytes;
  }

  take(bytes: number): void {
    this.writableLength -= bytes;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

function tableOf(more: Partial<ConnectionBounds> = {}) {
  const cuts: string[] = [];
  const table = new ConnectionTable({ ...bounds, ...more }, (reason) => cuts.push(reason));
  return { cuts, table, admit: (peer: Peer) => table.admit(peer as unknown as Socket) };
}

describe('a table of connections', () => {
  it('closes the connection with the longest idle time to admit a new connection, but never a connection with a pending response', () => {
    const { admit, cuts, table } = tableOf();
    const peers = [1, 2, 3, 4].map(() => new Peer());
    const [first, second, third] = peers.slice(0, 3).map(admit);
    if (first) first.outstanding = 1;
    if (third) third.answered = 1;
    expect(second && admit(peers[3] as Peer)).not.toBeNull();
    expect(peers.map(({ destroyed }) => destroyed)).toEqual([false, true, false, false]);
    expect({ cuts, size: table.size }).toEqual({ cuts: ['idle'], size: 3 });
  });

  it('refuses a new connection if every open connection has a pending response', () => {
    const { admit, cuts } = tableOf();
    for (const tracked of [1, 2, 3].map(() => admit(new Peer()))) if (tracked) tracked.outstanding = 1;
    const late = new Peer();
    expect([admit(late), late.destroyed, cuts]).toEqual([null, true, ['full']]);
  });

  it('closes a connection of the client with the most connections to admit a client with fewer connections', () => {
    const { admit, cuts } = tableOf();
    const flood = [1, 2, 3].map(() => new Peer());
    for (const tracked of flood.map(admit)) if (tracked) tracked.outstanding = 1;
    expect(admit(new Peer('198.51.100.1'))).not.toBeNull();
    expect([flood.map(({ destroyed }) => destroyed), cuts]).toEqual([[false, false, true], ['full']]);
  });

  it('closes the idle connection of a client before its active connections', () => {
    const { admit } = tableOf();
    const flood = [1, 2, 3].map(() => new Peer());
    for (const tracked of [flood.map(admit)].flatMap(([a, , c]) => [a, c])) if (tracked) tracked.outstanding = 1;
    admit(new Peer('198.51.100.1'));
    expect(flood.map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
  });

  it('attributes a connection to the client that a trusted proxy names', () => {
    const { admit, table } = tableOf({ total: 4 });
    const peers = [1, 2, 3, 4].map(() => new Peer());
    const tracked = peers.map(admit);
    for (const [index, one] of tracked.entries()) {
      if (!one) continue;
      one.outstanding = 1;
      table.attribute(one, index === 0 ? '198.51.100.1' : '198.51.100.2');
    }
    expect(admit(new Peer())).not.toBeNull();
    expect(peers.map(({ destroyed }) => destroyed)).toEqual([false, false, false, true]);
  });

  it('does not treat a connection with unparsed bytes as idle', () => {
    const { admit, cuts } = tableOf();
    const peers = [1, 2, 3].map(() => new Peer());
    const [first] = peers.map(admit);
    if (first) first.held = true;
    admit(new Peer());
    expect([peers.map(({ destroyed }) => destroyed), cuts]).toEqual([[false, true, false], ['idle']]);
  });

  it('limits the connections of a client and allows an IPv6 site four times as many connections', () => {
    const { admit, cuts } = tableOf({ total: 1_000, perClient: 2 });
    const admitted = (addresses: readonly string[]) => addresses.map((one) => admit(new Peer(one)) !== null);
    expect(admitted(['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'])).toEqual([true, true, false, true]);
    expect(admitted(['2001:db8::1', '2001:db8::2', '2001:db8::3'])).toEqual([true, true, false]);
    const site = Array.from({ length: 64 }, (_, n) => `2001:db8:1:${(n * 256).toString(16)}::1`);
    expect(admitted(site).filter(Boolean)).toHaveLength(8);
    expect(new Set(cuts)).toEqual(new Set(['client_full']));
  });

  it('admits a further connection of a client after a connection of that client was closed', () => {
    const { admit } = tableOf({ perClient: 1 });
    const peer = new Peer();
    admit(peer);
    peer.destroy();
    expect(admit(new Peer())).not.toBeNull();
  });
});

describe('a peer that reads its responses too slowly', () => {
  it('is disconnected if it reads nothing within the stall interval', () => {
    const { admit, cuts, table } = tableOf();
    const peer = new Peer();
    admit(peer);
    peer.send(10);
    for (const now of [0, 999]) table.cutStalled(now);
    expect(peer.destroyed).toBe(false);
    table.cutStalled(1_000);
    expect([peer.destroyed, cuts]).toEqual([true, ['stalled']]);
  });

  it('is disconnected if it reads only single bytes', () => {
    const { admit, table } = tableOf();
    const peer = new Peer();
    admit(peer);
    peer.send(128 * 1024);
    let now = 0;
    for (; !peer.destroyed && now < 60_000; now += 100) {
      peer.take(1);
      table.cutStalled(now);
    }
    expect(now).toBeLessThanOrEqual(2_200);
  });

  it('stays connected if it reads the minimum amount in each stall interval', () => {
    const { admit, table } = tableOf();
    const peer = new Peer();
    admit(peer);
    // The peer never reads everything, so some bytes always remain unsent.
    peer.send(64 * 1024);
    for (let now = 0; now < 60_000; now += 900) {
      peer.send(64 * 1024);
      table.cutStalled(now);
      peer.take(64 * 1024);
      table.cutStalled(now + 450);
    }
    expect(peer.destroyed).toBe(false);
  });
});
