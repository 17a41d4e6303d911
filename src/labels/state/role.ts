import type { WriterSighting } from '../../store/standby/standby.ts';

/** All roles of an instrument. */
export const roles = ['standby', 'taking_over', 'active', 'fenced'] as const;
/** Role of an instrument on its store. */
export type Role = (typeof roles)[number];

/** Intervals by which the role changes, in milliseconds. */
export const roleTimes = {
  /** Interval between two checks of the writer, in milliseconds. */
  lookMs: 250,
  /**
   * At most this time between two checks counts towards the age of a heartbeat, in milliseconds. A longer time may mean
   * that the standby was interrupted together with the writer. Late checks on a busy machine still add up.
   */
  maxLookGapMs: 1_000,
  /** Age of a heartbeat at which the writer counts as hanging, in milliseconds. */
  staleMs: 3_000,
  /** Time after which a standby that could not end a hanging writer tries again, in milliseconds. */
  endRetryMs: 1_000,
  /**
   * Time without a connection after which a writer counts as dead, in milliseconds. This time exceeds the interval
   * between two renewals of the lease, so that a writer that only lost its connections can open new ones.
   */
  goneMs: 750,
  /**
   * Age of the heartbeat at which a writer that is opening the store counts as hanging, in milliseconds. This age is
   * larger than `staleMs`, because opening may migrate and recover the store.
   */
  staleOpeningMs: 15 * 60_000,
};
/** At most this time between two checks counts towards the time without a connection, in milliseconds. */
const maxGoneGapMs = 375;

/**
 * Immutable state of the role, which only `roleStep` changes. All times are of the monotonic clock, in milliseconds.
 */
interface RoleState {
  readonly role: Role;
  readonly lookedAt: number | null;
  readonly beat: string | null;
  /** Time for which the checks have found the heartbeat unchanged, in milliseconds. */
  readonly unchangedMs: number;
  /**
   * Part of `unchangedMs` for which the checks have found no connection of the writer; null if the writer has a
   * connection, or if the last check failed.
   */
  readonly goneMs: number | null;
  /**
   * Last reported reason why the writer could not be ended, or null if no reason was reported since the writer's
   * heartbeat changed.
   */
  readonly told: string | null;
}

/** Event that may change the role. */
export type RoleEvent =
  | { readonly kind: 'looked'; readonly at: number; readonly sighting: WriterSighting }
  /** The store could not be reached. The writer may not reach it either. */
  | { readonly kind: 'unseen' }
  /** The hanging writer was not ended. */
  | { readonly kind: 'writer_kept'; readonly why: string }
  /** The store is open for writing, and the kept rows are stored. */
  | { readonly kind: 'taken_over' }
  /** Another process writes the store. */
  | { readonly kind: 'lock_lost' }
  /** The token of the store has changed. */
  | { readonly kind: 'fenced' };

/** Action that follows from an event. */
export type RoleAction = 'none' | 'open_store' | 'end_writer' | 'tell' | 'publish' | 'exit';

/** State of a standby that has not checked the writer yet. */
export const standingBy: RoleState = {
  role: 'standby',
  lookedAt: null,
  beat: null,
  unchangedMs: 0,
  goneMs: null,
  told: null,
};

/**
 * Returns the state after an event, and the resulting action. The function is pure. An event that does not fit the role
 * causes no change of role; `unseen` and `writer_kept` change the measurements in every role.
 */
export function roleStep(state: RoleState, event: RoleEvent): readonly [RoleState, RoleAction] {
  switch (event.kind) {
    case 'looked':
      return state.role === 'standby' ? looked(state, event) : [state, 'none'];
    case 'unseen':
      return [{ ...state, lookedAt: null, goneMs: null }, 'none'];
    case 'writer_kept':
      return [
        // Retry soon, because a busy database may merely have exceeded the time limit of the statement.
        { ...state, unchangedMs: roleTimes.staleMs - roleTimes.endRetryMs, told: event.why },
        state.told === event.why ? 'none' : 'tell',
      ];
    case 'taken_over':
      return state.role === 'taking_over' ? [{ ...state, role: 'active' }, 'publish'] : [state, 'none'];
    case 'lock_lost':
      return state.role === 'taking_over' ? [standingBy, 'none'] : [state, 'none'];
    case 'fenced':
      return state.role === 'fenced' ? [state, 'none'] : [{ ...state, role: 'fenced' }, 'exit'];
    default:
      return event satisfies never;
  }
}

function looked(
  state: RoleState,
  { at, sighting }: Extract<RoleEvent, { kind: 'looked' }>,
): readonly [RoleState, RoleAction] {
  if (sighting.kind === 'none') return [{ ...state, role: 'taking_over', lookedAt: at }, 'open_store'];
  const seen = { ...state, lookedAt: at, beat: sighting.beat, goneMs: sighting.isGone ? 0 : null };
  if (sighting.beat !== state.beat) return [{ ...seen, unchangedMs: 0, told: null }, 'none'];
  // A missing heartbeat, as with a writer of an earlier version, is no evidence of a hang.
  if (sighting.beat === null) return [seen, 'none'];
  const limit = sighting.state === 'opening' ? roleTimes.staleOpeningMs : roleTimes.staleMs;
  // Ignore the time before the first check, and the time since a failed check.
  const unchangedMs = state.unchangedMs + Math.min(at - (state.lookedAt ?? at), roleTimes.maxLookGapMs);
  const lookGapMs = Math.min(at - (state.lookedAt ?? at), maxGoneGapMs);
  const gone = sighting.isGone && state.goneMs !== null ? state.goneMs + lookGapMs : 0;
  if (unchangedMs < limit && gone < roleTimes.goneMs)
    return [{ ...seen, unchangedMs, goneMs: sighting.isGone ? gone : null }, 'none'];
  // Start measuring again, so that a writer that cannot be ended is not signaled at every check.
  return [{ ...seen, unchangedMs: 0 }, 'end_writer'];
}
