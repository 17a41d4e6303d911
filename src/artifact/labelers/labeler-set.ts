import { parseTimestamp } from '../../contract/timestamp.ts';
import { isObject, scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import type { Check } from '../../input/schema.ts';
import {
  checkDefinitionsHeader,
  checkLabeler,
  checkLabelerDefinitions,
  checkLabelersHeader,
  type LabelerDefinitionsLine,
  type LabelerLine,
  type LabelersHeader,
  labelersLimits,
} from '../labelers.ts';
import type { Malformed } from '../reading.ts';

/**
 * Both decoded files of the labelers artifact. Every line has been checked, and is parsed again only when it is
 * requested.
 */
export interface LabelerSet {
  readonly header: LabelersHeader;
  /** Returns true if the artifact has a line of the labeler. */
  has(did: string): boolean;
  /** Returns the line of a labeler, or null if the artifact has none. */
  labeler(did: string): LabelerLine | null;
  /** Returns the definitions of a labeler, or null if the artifact has none. */
  definitions(did: string): LabelerDefinitionsLine | null;
}

/** Bytes of both files of the labelers artifact. */
export interface LabelerBytes {
  readonly labelers: Buffer;
  readonly definitions: Buffer;
}

/** File names, for messages to the operator. */
const fileNames = { labelers: 'labelers.ndjson', definitions: 'labeler-definitions.ndjson' } as const;

/** A line that is malformed, with its number in the file. */
export interface MalformedLine extends Malformed {
  readonly file: string;
  /** Number of the line, from 1. */
  readonly line: number;
}

/**
 * Result of decoding. `unequal`: the files have different `generated_at` or generations, as happens while they are
 * being replaced.
 */
export type DecodedLabelers =
  | { readonly kind: 'decoded'; readonly set: LabelerSet }
  | { readonly kind: 'unequal' }
  | MalformedLine;

/** Position of a line in its file: the index of its first byte and the index after its last byte. */
type Place = readonly [start: number, end: number];

/**
 * Cache of decoded definitions. From one artifact to the next, usually only the header of the definitions file
 * changes.
 */
interface DecodedDefinitions {
  readonly body: Buffer;
  readonly places: ReadonlyMap<string, Place>;
}

/**
 * Creates a decoder of labelers artifacts. It parses and checks each line once, in slices of the event loop, and passes
 * the lines of labelers to `visit`. It skips definitions that are equal to those of the previous artifact. Afterwards,
 * only the bytes and the position of each line remain in memory.
 */
export function labelerDecoder() {
  let known: DecodedDefinitions | null = null;

  return async (
    bytes: LabelerBytes,
    visit: (line: LabelerLine, header: LabelersHeader) => void,
    sliceEnd: SliceEnd,
  ): Promise<DecodedLabelers> => {
    const labelers = new LineReader(bytes.labelers, fileNames.labelers, labelersLimits.lineBytes, sliceEnd);
    const definitions = new LineReader(
      bytes.definitions,
      fileNames.definitions,
      labelersLimits.definitionsLineBytes,
      sliceEnd,
    );
    const pause = async (): Promise<void> => {
      const ended = sliceEnd();
      if (ended) await ended;
    };
    try {
      const header = labelers.header(checkLabelersHeader, headerFault);
      await pause();
      const other = definitions.header(checkDefinitionsHeader, () => null);
      await pause();
      if (header.generated_at !== other.generated_at || header.generation_id !== other.generation_id) {
        return { kind: 'unequal' };
      }
      const places = await labelers.lines(header.labelers, checkLabeler, (line) => {
        const fault = labelerFault(line, header);
        if (fault === null) visit(line, header);
        return fault;
      });
      const body = definitions.rest();
      // Start a new slice, because the following comparison of up to 32 MiB takes several milliseconds.
      await pause();
      if (!known?.body.equals(body)) {
        known = { body, places: await definitions.lines(other.labelers, checkLabelerDefinitions, () => null) };
      }
      return { kind: 'decoded', set: setOf(header, labelers.rest(), places, known) };
    } catch (error) {
      if (error instanceof LineError) return error.fault;
      throw error;
    }
  };
}

function setOf(
  header: LabelersHeader,
  body: Buffer,
  places: ReadonlyMap<string, Place>,
  definitions: DecodedDefinitions,
): LabelerSet {
  const parsed = (from: Buffer, place: Place | undefined): unknown =>
    place === undefined ? null : JSON.parse(from.toString('utf8', place[0], place[1]));
  return {
    header,
    has: (did) => places.has(did),
    // Skip the check, because the line was checked when the file was decoded.
    labeler: (did) => parsed(body, places.get(did)) as LabelerLine | null,
    definitions: (did) => parsed(definitions.body, definitions.places.get(did)) as LabelerDefinitionsLine | null,
  };
}

class LineError extends Error {
  readonly fault: MalformedLine;

  constructor(fault: MalformedLine) {
    super(fault.why);
    this.fault = fault;
  }
}

type Fault = Pick<Malformed, 'pointer' | 'why'>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads the lines of one file. Throws LineError at the first malformed line. */
class LineReader {
  readonly #bytes: Buffer;
  readonly #file: string;
  readonly #longest: number;
  readonly #sliceEnd: SliceEnd;
  #at = 0;
  #line = 0;
  #headerEnd = 0;

  constructor(bytes: Buffer, file: string, longest: number, sliceEnd: SliceEnd) {
    this.#bytes = bytes;
    this.#file = file;
    this.#longest = longest;
    this.#sliceEnd = sliceEnd;
  }

  header<T>(check: Check<T>, faultOf: (header: T) => Fault | null): T {
    const header = this.#parsed(this.#next(), check);
    const fault = faultOf(header);
    if (fault) throw this.#malformed(fault);
    this.#headerEnd = this.#at;
    return header;
  }

  /** Returns the bytes after the header. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#headerEnd);
  }

  /** Reads as many lines as the header states. Returns their positions, by DID, relative to the end of the header. */
  async lines<T extends { readonly did: string }>(
    count: number,
    check: Check<T>,
    faultOf: (line: T) => Fault | null,
  ): Promise<ReadonlyMap<string, Place>> {
    const places = new Map<string, Place>();
    let last = '';
    for (let read = 0; read < count; read += 1) {
      const place = this.#next();
      const line = this.#parsed(place, check);
      if (line.did <= last)
        throw this.#malformed({ pointer: '/did', why: 'does not sort after the DID of the previous line' });
      last = line.did;
      const fault = faultOf(line);
      if (fault) throw this.#malformed(fault);
      places.set(line.did, [place[0] - this.#headerEnd, place[1] - this.#headerEnd]);
      const pause = this.#sliceEnd();
      if (pause) await pause;
    }
    if (this.#at < this.#bytes.length)
      throw this.#malformed({ pointer: '', why: 'exceeds the number of lines that the header states' });
    return places;
  }

  /** Returns the position of the next line. */
  #next(): Place {
    const start = this.#at;
    this.#line += 1;
    if (start >= this.#bytes.length) throw this.#malformed({ pointer: '', why: 'is missing' });
    const found = this.#bytes.indexOf(0x0a, start);
    const end = found < 0 ? this.#bytes.length : found;
    if (end - start > this.#longest)
      throw this.#malformed({ pointer: '', why: `is longer than ${this.#longest} bytes` });
    this.#at = end + 1;
    return [start, end];
  }

  #parsed<T>([start, end]: Place, check: Check<T>): T {
    const bytes = this.#bytes.subarray(start, end);
    const { fault, topFields } = scanJson(bytes, inputLimits.labelerLine);
    if (fault !== null) {
      throw this.#malformed({ pointer: '', why: 'has more values, fields, digits or levels than allowed' });
    }
    let json: unknown;
    try {
      json = JSON.parse(utf8.decode(bytes));
    } catch {
      throw this.#malformed({ pointer: '', why: 'is not a single JSON value in UTF-8' });
    }
    if (!isObject(json)) throw this.#malformed({ pointer: '', why: 'is not an object' });
    // JSON parsers differ in which of the two values they use.
    if (Object.keys(json).length !== topFields)
      throw this.#malformed({ pointer: '', why: 'has a top-level key twice' });
    const checked = check(json);
    if (!checked.ok) throw this.#malformed(checked);
    return checked.value;
  }

  #malformed({ pointer, why }: Fault): LineError {
    return new LineError({ kind: 'malformed', schema: null, pointer, why, file: this.#file, line: this.#line });
  }
}

const dayText = /^\d{4}-\d{2}-\d{2}$/;

function headerFault({ days, window, labelers }: LabelersHeader): Fault | null {
  if (labelers > labelersLimits.labelers)
    return { pointer: '/labelers', why: `is more than ${labelersLimits.labelers}` };
  const at = days.findIndex((day) => !dayText.test(day));
  if (at >= 0) return { pointer: `/days/${at}`, why: 'is not a day' };
  return inverted(window) ? { pointer: '/window', why: 'ends before it starts' } : null;
}

/**
 * Returns the first contradiction within a labeler's line, or between the line and the header; null if there is none.
 */
function labelerFault({ days, gaps, values }: LabelerLine, header: LabelersHeader): Fault | null {
  if (days.length !== header.days.length) return { pointer: '/days', why: 'does not have one entry per day' };
  const over = days.findIndex(([, , share]) => share > 1);
  if (over >= 0) return { pointer: `/days/${over}/2`, why: 'is more than 1' };
  const gap = gaps.findIndex(inverted);
  if (gap >= 0) return { pointer: `/gaps/${gap}`, why: 'ends before it starts' };
  const value = values.findIndex(
    ({ first_defined: first, last_defined: last }) => !dayText.test(first) || (last !== null && !dayText.test(last)),
  );
  return value < 0 ? null : { pointer: `/values/${value}`, why: 'has a date that is not a day' };
}

function inverted({ start, end }: { readonly start: string; readonly end: string }): boolean {
  return (parseTimestamp(start) ?? Number.NaN) > (parseTimestamp(end) ?? Number.NaN);
}

// Divides long work on the event loop into slices, between which the event loop can run other tasks.

/** Called between the small steps of long work. Returns a promise to await if the slice has ended; otherwise null. */
export type SliceEnd = () => Promise<void> | null;

/** Length of a slice in milliseconds. It is short, so that a turn stays below 10 ms even if its last step is long. */
const sliceMs = 2;

/** Creates the slices of one task. `monotonic` returns the time of a monotonic clock in milliseconds. */
export function slices(monotonic: () => number): SliceEnd {
  let endsAt = monotonic() + sliceMs;
  const nextTurn = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    endsAt = monotonic() + sliceMs;
  };
  return () => (monotonic() < endsAt ? null : nextTurn());
}

/**
 * Returns true if the text is a valid line for a labeler in `labeler-definitions.ndjson`. The writer uses it to check
 * its own output.
 */
export function isDefinitionsLine(text: string): boolean {
  const isWithinLimits = scanJson(Buffer.from(text), inputLimits.labelerLine).fault === null;
  return isWithinLimits && checkLabelerDefinitions(JSON.parse(text)).ok;
}
