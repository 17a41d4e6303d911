import { futureToleranceSeconds } from '../contract/limits.ts';
import type { Memo } from './compute/compute-files.ts';
import { addDays, hourMs, hourOf } from './days/calendar.ts';
import { type ArchivedLine, type ArchivedResponse, refusalCode } from './days/line.ts';
import { parseTombstones, pathOf, tombstoneFile } from './days/records.ts';
import type { ArchiveFiles } from './files/archive-files.ts';
import type { DayForm, HoursReading, HoursReadings } from './hours/hour-lists.ts';
import { labelsForm } from './hours/labels-day.ts';
import { weatherForm } from './hours/weather-day.ts';

/** Maximum time by which an hours file may be dated ahead of the archiver's clock, in milliseconds. */
const toleranceMs = futureToleranceSeconds * 1000;

/** Dependencies of `keepHours`. */
export interface HoursUpkeep {
  readonly files: ArchiveFiles;
  /** Cache of the results of earlier calls. */
  readonly memo: Memo;
  /** Describes an identity found in the values of the archive file `name` without quoting it; null if there is none. */
  readonly findIdentityIn: (name: string, value: object) => string | null;
  /** Called with the path of each file that is not written because it contains an identity. */
  readonly onIdentity: (path: string, why: string) => void;
  /** Called with the path of each file that is not written because the archive could not read it. */
  readonly onUnusable: (path: string) => void;
  /** Called with the name of each hours file that is ignored because it is dated in the future. */
  readonly onFuture: (name: string) => void;
}

/**
 * State of the label facts in the current hour. `released`: the facts exist, and the operator does not hold them.
 * `absent`: the observatory has no label instrument. `unknown`: the operator may be holding the facts.
 */
type LabelFacts = 'released' | 'held' | 'absent' | 'unknown';

/** Days to which hours are copied, and the current time in milliseconds since 1970. */
interface OpenDays {
  readonly first: string;
  readonly last: string;
  readonly now: number;
  /** State of the label facts in the current hour. Label hours are copied only if the operator does not hold them. */
  readonly labelFacts: LabelFacts;
}

/**
 * Copies the hours of the instruments' files to the open days to which they belong. Copies label hours only if
 * `labelFacts` allows it. A file that cannot be read or copied, or that contains an identity, changes only the reasons for
 * missing hours, and a file that is dated in the future changes nothing. Hours that the operator has withdrawn stay
 * withdrawn.
 */
export function keepHours(upkeep: HoursUpkeep, { weather, labels }: HoursReadings, open: OpenDays): void {
  const { first, last, now, labelFacts } = open;
  const held = { kind: 'failure', reason: 'held' } as const;
  const hasWeather = isUsable(upkeep, weather, { name: weatherForm.name, now });
  const hasLabels = labelFacts === 'held' || isUsable(upkeep, labels, { name: labelsForm.name, now });
  for (let day = first; day <= last; day = addDays(day, 1)) {
    // Without intact tombstones, withdrawn hours could be copied again. The damage is reported with the day's record.
    const withdrawn = withdrawnNames(upkeep.files, day);
    if (hasWeather && withdrawn?.has(weatherForm.name) === false) {
      keepDay(upkeep, weather, { ...weatherForm, day, now });
    }
    if (!hasLabels || labelFacts === 'unknown' || withdrawn?.has(labelsForm.name) !== false) continue;
    keepDay(upkeep, labelFacts === 'held' ? held : labels, { ...labelsForm, day, now });
  }
}

function isUsable(
  { onFuture }: HoursUpkeep,
  reading: HoursReading<KeptHours>,
  { name, now }: { readonly name: string; readonly now: number },
): boolean {
  const isAhead = reading.kind === 'readable' && isFuture(reading.artifact.generated_at, now);
  if (isAhead) onFuture(name);
  return !isAhead;
}

function isFuture(generatedAt: string | null, now: number): boolean {
  return generatedAt !== null && Date.parse(generatedAt) > now + toleranceMs;
}

/** Returns the names of a day's withdrawn files; null if the tombstones are damaged. */
function withdrawnNames(files: ArchiveFiles, day: string): ReadonlySet<string> | null {
  const tombstones = parseTombstones(files.read(pathOf(day, tombstoneFile)), day);
  return tombstones && new Set(tombstones.map(({ name }) => name));
}

interface KeptHours {
  readonly generated_at: string | null;
}

function keepDay<D extends KeptHours, A>(
  { files, memo, findIdentityIn, onIdentity, onUnusable }: HoursUpkeep,
  reading: HoursReading<A>,
  {
    name,
    unknown,
    parse,
    format,
    merge,
    note,
    day,
    now,
  }: DayForm<D, A> & { readonly day: string; readonly now: number },
): void {
  const path = pathOf(day, name);
  const bytes = files.read(path);
  const parsed = (own: Buffer): D | null => memo.parsed(`${day}/${name}`, own, () => parse(own, day));
  const kept = bytes ? parsed(bytes) : unknown(day);
  // Do not report the damaged file here, because it is reported when the day is computed.
  if (!kept) return;
  const before = bytes ?? format(kept);
  // Ignore a kept `generated_at` that is in the future: otherwise it would exclude all later files.
  const comparable = isFuture(kept.generated_at, now) ? { ...kept, generated_at: null } : kept;
  const merged = reading.kind === 'readable' ? merge(comparable, reading.artifact) : note(kept, reading.reason, now);
  // A file in which only `generated_at` changed does not justify a new revision.
  if (format({ ...merged, generated_at: kept.generated_at }).equals(before)) return;
  const why = findIdentityIn(name, merged);
  if (why !== null) onIdentity(path, why);
  const isUsable = why !== null || parsed(format(merged)) !== null;
  // A file that the archive cannot read would keep this day and all later ones open.
  if (!isUsable) onUnusable(path);
  const written = why !== null ? note(kept, 'withheld', now) : isUsable ? merged : note(kept, 'malformed', now);
  const formatted = format(written);
  if (!formatted.equals(before)) files.replace(path, formatted);
}

/**
 * Time for which facts must have been unavailable before they are considered absent, in milliseconds: the span of an
 * hours file.
 */
export const labelFactsMs = 72 * hourMs;
/** Minimum number of refusals within `labelFactsMs` before the facts are considered absent. */
const absentRefusals = 24;

/** Label hours file, reduced to its `hold` field. */
type LabelsReading = HoursReading<{ readonly hold?: boolean }>;

/**
 * Determines the state of the label facts. `lines` are the archived lines of the label overview from the last
 * `labelFactsMs` milliseconds before `now` (milliseconds since 1970). `labels`, the hours file, is checked too: a hold
 * may have begun after the overview was archived, and a refusal with `source_unavailable` does not reveal a hold.
 */
export function labelFactsAt(labels: LabelsReading | null, lines: readonly ArchivedLine[], now: number): LabelFacts {
  if (labels?.kind === 'readable' && labels.artifact.hold === true) return 'held';
  const answer = lines.findLast(isResponse);
  if (answer && refusalCode(answer) === 'source_held') return 'held';
  const last = lines.at(-1);
  if (last?.kind !== 'response' || last.hour !== hourOf(now)) return 'unknown';
  // If facts are held and stale, the facts API reports the hold. Facts that it reports as stale are therefore not
  // held.
  if (last.status === 200 || refusalCode(last) === 'source_stale') return 'released';
  return isAbsent(labels, lines, now) ? 'absent' : 'unknown';
}

function isAbsent(labels: LabelsReading | null, lines: readonly ArchivedLine[], now: number): boolean {
  if (labels !== null && !(labels.kind === 'failure' && labels.reason === 'missing')) return false;
  const responses = lines.filter(isResponse).filter(({ at }) => Date.parse(at) > now - labelFactsMs);
  const codes = responses.map(refusalCode);
  // A proxy's error page has no code and does not show whether the facts exist.
  const isUnavailable = responses.every(({ status }, at) => status !== 200 && isNeutral(codes[at] ?? null));
  return isUnavailable && codes.filter((code) => code === unavailable).length >= absentRefusals;
}

const unavailable = 'source_unavailable';

function isNeutral(code: string | null): boolean {
  return code === null || code === unavailable;
}

function isResponse(line: ArchivedLine): line is ArchivedResponse {
  return line.kind === 'response';
}
