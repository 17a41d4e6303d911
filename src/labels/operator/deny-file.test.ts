import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  changeDenyFile,
  type DenyEntry,
  DenyList,
  denyLimits,
  formatDenyList,
  parseDenyList,
  readDenyFile,
  requireDenyList,
} from './deny-file.ts';

const denyPath = (folder: string): string => join(folder, 'labels-denied.json');

const did = 'did:plc:ar7c4by46qjdydhdevvrndac';
const since = '2026-11-22T10:00:00.000Z';
const ofDid: DenyEntry = { target: { kind: 'did', did }, reason: 'floods', since, purge: null };
const ofDomain: DenyEntry = { target: { kind: 'domain', domain: 'example.com' }, reason: null, since, purge: null };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-deny-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the file of denied labelers', () => {
  it('is absent at first, and then contains the entries that commands added and did not remove', async () => {
    expect(await readDenyFile(folder)).toEqual({ kind: 'absent' });
    expect((await requireDenyList(folder)).entries).toEqual([]);
    await changeDenyFile(folder, (list) => list.with(ofDid));
    await changeDenyFile(folder, (list) => list.with(ofDomain));
    const { before, after } = await changeDenyFile(folder, (list) => list.without(ofDid.target));
    expect([before.entries, after.entries]).toEqual([[ofDid, ofDomain], [ofDomain]]);
    expect((await requireDenyList(folder)).entries).toEqual([ofDomain]);
    expect(readdirSync(folder)).toEqual(['labels-denied.json']);
  });

  it('loses no entry when many commands change it concurrently', async () => {
    const domains = Array.from({ length: 12 }, (_, n) => `attacker-${n}.example`);
    await Promise.all(
      domains.map((domain) =>
        changeDenyFile(folder, (list) => list.with({ ...ofDomain, target: { kind: 'domain', domain } })),
      ),
    );
    const { entries } = await requireDenyList(folder);
    expect(entries.map(({ target }) => (target.kind === 'domain' ? target.domain : ''))).toEqual(
      expect.arrayContaining(domains),
    );
  });

  it('is unchanged and unlocked after a refused change', async () => {
    await changeDenyFile(folder, (list) => list.with(ofDid));
    const before = readFileSync(denyPath(folder), 'utf8');
    const tooMany = Array.from({ length: denyLimits.entries + 1 }, (_, n) => ({
      ...ofDomain,
      target: { kind: 'domain', domain: `attacker-${n}.example` } as const,
    }));
    await expect(changeDenyFile(folder, () => new DenyList(tooMany))).rejects.toThrow('at most 10000 entries');
    expect(readFileSync(denyPath(folder), 'utf8')).toBe(before);
    expect(readdirSync(folder)).toEqual(['labels-denied.json']);
  });

  it('is not changed while another command holds the lock, and the error names the lock file', async () => {
    writeFileSync(`${denyPath(folder)}.new`, '');
    await expect(changeDenyFile(folder, (list) => list)).rejects.toThrow(
      `another command is changing the list; if none is running, remove ${denyPath(folder)}.new and try again`,
    );
  });

  it.each([
    ['', 'the file is not JSON'],
    ['{"denied": [{"did": "did:plc:ar7c4by46qjdydhdevvrndac"', 'the file is not JSON'],
    ['[]', 'the file has no "denied" array'],
    [`{"denied":[{"since":"${since}"}]}`, 'entry 1: exactly one of "did" and "domain" is required'],
    [`{"denied":[{"domain":"a.example.com","since":"${since}"}]}`, 'must be spelled example.com'],
    [`{"denied":[{"domain":"${did}","since":"${since}"}]}`, `must be spelled ${did}`],
    [`{"denied":[{"did":"${did}","since":"yesterday"}]}`, 'entry 1: "since" is not an RFC 3339 time'],
    [`{"denied":[{"did":"${did}","since":"${since}","reason":7}]}`, '"reason" is not a string'],
    [`{"denied":[{"domain":"example.com","since":"${since}","purge":"${since}"}]}`, '"purge" is not an RFC 3339 time'],
    [
      `{"denied":[{"did":"${did}","since":"${since}"},{"did":"${did}","since":"${since}"}]}`,
      `entry 2: an earlier entry also denies ${did}`,
    ],
    [
      `{"denied":["example.com","example.org","example.com"]}`.replace(
        /"(example[.a-z]+)"/g,
        `{"domain":"$1","since":"${since}"}`,
      ),
      'entry 3: an earlier entry also denies example.com',
    ],
  ])('is reported as damaged if its content is %j, and the error states a remedy', async (content, why) => {
    writeFileSync(denyPath(folder), content);
    expect(await readDenyFile(folder)).toEqual({
      kind: 'damaged',
      why: expect.stringContaining(why),
      isReadable: true,
    });
    await expect(requireDenyList(folder)).rejects.toThrow('move it aside to deny no labeler');
    await expect(changeDenyFile(folder, (list) => list)).rejects.toThrow('is invalid');
    expect(readFileSync(denyPath(folder), 'utf8')).toBe(content);
  });

  it('contains the same entries after formatting and parsing', () => {
    const target = fc.oneof(
      fc.nat(1_000_000).map((n) => ({ kind: 'domain', domain: `host-${n}.example` }) as const),
      fc.ipV4().map((domain) => ({ kind: 'domain', domain }) as const),
      fc.constant({ kind: 'domain', domain: '2001:db8::1' } as const),
      fc.nat(1_000_000).map((n) => ({ kind: 'did', did: `did:web:host-${n}.example` }) as const),
    );
    const entry = fc.record({ target, reason: fc.option(fc.string()), since: fc.constant(since) }).chain((one) =>
      fc.record({
        ...{ target: fc.constant(one.target), reason: fc.constant(one.reason), since: fc.constant(one.since) },
        purge: one.target.kind === 'did' ? fc.option(fc.constant(since)) : fc.constant(null),
      }),
    );
    const text = ({ target: of }: DenyEntry) => (of.kind === 'did' ? of.did : of.domain);
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: text }), (entries) => {
        expect(parseDenyList(formatDenyList(new DenyList(entries))).entries).toEqual(entries);
      }),
    );
  });
});

describe('the list of denied labelers', () => {
  it('denies a labeler by its DID, by the domain of its endpoint, and by the domain of its did:web', () => {
    const list = new DenyList([ofDid, ofDomain]);
    expect(list.entryFor({ did, endpoint: 'https://elsewhere.example' })).toBe(ofDid);
    expect(list.entryFor({ did: 'did:web:other.example', endpoint: 'https://a.example.com' })).toBe(ofDomain);
    expect(list.entryFor({ did: 'did:web:mod.example.com', endpoint: null })).toBe(ofDomain);
    const ofWeb = { ...ofDomain, target: { kind: 'did', did: 'did:web:mod.example.net' } } as const;
    expect(new DenyList([ofWeb]).entryFor({ did: 'did:web:Mod.example.net', endpoint: null })).toBe(ofWeb);
    expect(list.entryFor({ did: 'did:web:example.org', endpoint: 'https://notexample.com' })).toBeNull();
  });
});
