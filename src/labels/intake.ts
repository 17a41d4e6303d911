import type { NewObservation, Refusal } from '../store/port.ts';
import { ClockChanged } from './acceptance.ts';
import { type AdmissionReason, admit } from './admission.ts';
import { CapReached } from './daily-cap.ts';
import { fingerprint } from './fingerprint.ts';
import { type ReadPosition, writePosition } from './position.ts';
import type { ReaderTools, Source } from './source.ts';
import type { Way } from './telemetry.ts';

/** Rows of one page or of some frames, in their order. */
export interface Intake {
  readonly rows: readonly unknown[];
  readonly way: Way;
  /** Where reading goes on once they are durable; given the position as committed. */
  readonly move: (position: ReadPosition) => ReadPosition;
}

/** Takes pages of one source one after the other. */
export interface SourceIntake {
  /** Admits, verifies and commits; resolves once the rows and the position are durable. Rejects with `CapReached`. */
  take(intake: Intake, signal: AbortSignal): Promise<void>;
}

/**
 * The one way of a source's rows to the writer, for its stream and its polls alike. One page at a time: the position is
 * made from what is committed, so that it never runs ahead of the rows of the other reader. `capReached` is told when a
 * page is not taken because the source gave too much today.
 */
export function createIntake(source: Source, tools: ReaderTools, capReached: () => void): SourceIntake {
  let before: Promise<unknown> = Promise.resolve();
  return {
    take(intake, signal) {
      const turn = before.then(() => {
        if (tools.cap.admits(source.did, intake.rows.length)) return takeJudged(source, tools, intake, signal);
        capReached();
        throw new CapReached();
      });
      before = turn.catch(() => undefined);
      return turn;
    },
  };
}

/** A clock that was set while a page was on its way may have judged it wrongly. */
async function takeJudged(source: Source, tools: ReaderTools, intake: Intake, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await takeOne(source, tools, intake, signal);
    } catch (error) {
      if (!(error instanceof ClockChanged)) throw error;
    }
  }
}

async function takeOne(source: Source, tools: ReaderTools, intake: Intake, signal: AbortSignal): Promise<void> {
  const { did, endpoint, tracker } = source;
  const { accept, clock, epoch, recordGap, telemetry } = tools;
  const clockEra = tools.clockEra();
  const rules = { source: did, epoch, now: clock() };
  const counts = new Map<AdmissionReason, number>();
  const accepted = [];
  for (const row of intake.rows) {
    const admission = admit(row, rules);
    if (admission.kind === 'accepted') accepted.push({ label: admission.label, row });
    else if (tools.refused.add(`${did} ${fingerprint(row)}`, intake.way)) {
      counts.set(admission.reason, (counts.get(admission.reason) ?? 0) + 1);
    }
  }
  const rows = accepted.map(({ row }) => row);
  const verdicts = rows.length === 0 ? [] : await tools.verify(did, rows, signal);
  const observations = accepted.map(
    ({ label }, i): NewObservation => ({ label, signature: verdicts[i] ?? 'unverified' }),
  );
  const refusals = [...counts].map(([reason, count]): Refusal => ({ source: did, reason, count }));
  const position = intake.move(source.position);
  const undated = counts.get('undated') ?? 0;
  const gap = tracker.answered(clock(), { dated: intake.rows.length - undated, undated });
  // Before the position: a crash between the two overstates the gap and never hides it.
  if (gap) await recordGap(gap);
  const positions = [{ source: did, endpoint, value: writePosition(position) }];
  tools.cap.count(did, await accept({ observations, refusals, positions, clockEra }));
  source.position = position;
  for (const { reason, count } of refusals) telemetry.refused(reason, count);
}
