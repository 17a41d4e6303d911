import { expect, test } from 'vitest';
import { silentLog } from '../../ops/log.ts';
import type { Position } from '../position/position.ts';
import { reportCommit } from './session.ts';
import { noTelemetry } from './telemetry.ts';

const nowMs = Date.parse('2026-11-20T13:16:00Z');

test.each([
  { name: 'behind', aheadMs: -2_500, seconds: 2.5 },
  { name: 'ahead of', aheadMs: 700, seconds: 0 },
])(
  'a commit reports the time of the newest event and the resulting lag (event $name the clock)',
  ({ aheadMs, seconds }) => {
    const lags: unknown[] = [];
    const telemetry = { ...noTelemetry, lag: (...lag: unknown[]) => void lags.push(lag) };
    const position: Position = { kind: 'seq', value: 9, counted: 1, timeUs: (nowMs + aheadMs) * 1_000 };
    for (const at of [position, null])
      reportCommit({ gains: [], milliseconds: 1, position: at }, { telemetry, log: silentLog, nowMs });
    expect(lags).toEqual([[seconds, nowMs + aheadMs]]);
  },
);
