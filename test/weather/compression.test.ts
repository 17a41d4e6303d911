import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { compareWithTruth, type Station, startStation } from '../../harness/weather/weather-station.ts';

const open: Station[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.end();
});

const dictionary = readFileSync(new URL('../fixtures/jetstream/dictionary.zstd', import.meta.url));
/** The same dictionary with another id. Frames contain the id of the dictionary that they require. */
const another = Buffer.from(dictionary);
another.writeUInt32LE(2002, 4);

async function observe(ours: Buffer, theirs: Buffer | undefined): Promise<Station> {
  const one = await startStation({ dictionary: ours, ...(theirs ? { sim: { zstdDictionary: theirs } } : {}) });
  open.push(one);
  await until('events are committed', () => (one.told.outcomes.counted ?? 0) > 500);
  await until(
    'the backfill of missed events has ended',
    () => said(one, 'the backfill of missed events has ended') > 0,
  );
  return one;
}

function said({ lines }: Station, words: string): number {
  return lines.filter((line) => line.includes(words)).length;
}

describe('a host that compresses', () => {
  test('is read with compression in live traffic and without compression in the backfill, without losing an event', async () => {
    const one = await observe(dictionary, dictionary);
    await compareWithTruth(one);
    expect(said(one, '"reader":"live","endpoint"')).toBe(1);
    expect(said(one, '"from":"live","compressed":true')).toBe(1);
    expect(said(one, '"compressed":true')).toBe(1);
    expect(one.told.outcomes.parse_error).toBe(0);
  });

  test('is read without compression if its dictionary differs, without losing an event', async () => {
    const one = await observe(dictionary, another);
    await compareWithTruth(one);
    expect(said(one, "the dictionary does not match the host's")).toBe(1);
  });
});

describe('a host that does not compress', () => {
  test('is read without compression and without losing an event', async () => {
    const one = await observe(dictionary, undefined);
    await compareWithTruth(one);
    expect(said(one, "the dictionary does not match the host's")).toBe(1);
    expect(one.told.causes[0]).toBe('handshake_status');
  });
});
