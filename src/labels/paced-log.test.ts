import { expect, test } from 'vitest';
import { type LogFields, silentLog } from '../ops/log.ts';
import { pacedLog } from './labels.ts';

test('a repeated message is limited to 20 lines, and then to one line in 30 s with the number of omitted lines', () => {
  const written: (readonly [string, LogFields])[] = [];
  let now = 0;
  const keep = (message: string, fields: LogFields = {}): void => void written.push([message, fields]);
  const log = pacedLog({ ...silentLog, info: keep, warn: keep, error: keep }, () => now);
  for (let i = 0; i < 1_000; i += 1) log.info('a labeler cannot be read', { labeler: `did:web:${i}` });
  expect(written).toHaveLength(20);
  log.warn('another message');
  expect(written.splice(0).at(-1)).toEqual(['another message', {}]);
  now += 30_000_000;
  log.info('a labeler cannot be read', { labeler: 'did:web:a' });
  log.info('a labeler cannot be read', { labeler: 'did:web:b' });
  expect(written.splice(0)).toEqual([['a labeler cannot be read', { labeler: 'did:web:a', left_out: 980 }]]);
  // Errors that labelers cannot cause are never omitted.
  for (let i = 0; i < 100; i += 1) log.error('the overview could not be published');
  expect(written).toHaveLength(100);
});
