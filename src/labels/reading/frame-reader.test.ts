import { expect, test } from 'vitest';
import { newSource, scriptedPorts } from '../../../harness/labels/reader-ports.ts';
import { labelsFrame } from '../../../sim/labelers/wire.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { micros } from '../../store/time.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import { FrameReader } from './frame-reader.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

test('the rows of a stream are taken with the time up to which nothing else that arrived waits', async () => {
  let now = 0;
  const { ports } = scriptedPorts({
    http: {} as HttpClient,
    openStream: () => Promise.reject(new Error('this request was not expected')),
  });
  const own = { ...ports, time: { ...ports.time, clock: () => micros(now) } };
  const taken: { rows: number; through: number | undefined }[] = [];
  const intake: Pick<SourceIntake, 'take'> = {
    take: ({ rows, through }) => {
      taken.push({ rows: rows.length, through });
      now += 100;
      return Promise.resolve({ stored: rows.length, known: 0, refused: 0 });
    },
  };
  const stop = new AbortController();
  const reader = new FrameReader(
    newSource(did, 'https://labeler.example', own),
    intake as SourceIntake,
    own,
    stop.signal,
  );
  const arrives = (seq: number): boolean => reader.push(labelsFrame(seq, [{ src: did, val: `v${seq}` }]));
  let isPaused = false;
  for (now = 1; now <= 300; now += 1) isPaused = arrives(now) || isPaused;
  const resumed: number[] = [];
  const reading = reader.run({
    filled: new Promise(() => undefined),
    openedAt: micros(0),
    resume: () => void resumed.push(now),
    holes: { start: () => undefined },
  });
  reader.close();
  expect(await reading).toMatchObject({ kind: 'ended' });
  // The connection paused when 256 messages waited; what the labeler held back since then has not arrived yet.
  expect([isPaused, resumed.length > 0]).toEqual([true, true]);
  expect(taken).toEqual([
    { rows: 256, through: 256 },
    { rows: 44, through: 256 },
  ]);
  stop.abort();
  reader.release();
});
