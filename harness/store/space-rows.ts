import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day as dayLength, dayStart, micros } from '../../src/store/time.ts';
import { labelers, labelNumber, noon, observationOf, subjects } from '../conformance/labels.ts';
import { changeFile } from './earlier-store.ts';

/** A store of an earlier version with two sealed and three open days, some of which contain rows about spaces. */

const [alice = '', bob = ''] = subjects;
/** Time at which the rows are removed, in microseconds. */
export const removedAt = micros(noon + 4 * dayLength + 1_000_000);
/** Number of rows about spaces on each day of the store. */
export const spaceRows: readonly number[] = [700, 0, 0, 1_300, 5];
/** Number of other rows on each day. */
export const otherRows = 300;

const paths = [
  '/space/com.example.group',
  '/space/com.example.group/key/did:web:a.example/a.b.c/d',
  '/space',
  '/space/',
];
const notSpaces = [
  '/spaces/a',
  '/com.example/space',
  '/app.bsky.feed.post/space',
  '/space.example/a/b',
  '/Space/a',
  '',
];

/** Returns the number of rows about spaces, counted from the given day onwards. */
export function spaceRowsFrom(day: number): number {
  return spaceRows.slice(day).reduce((sum, rows) => sum + rows, 0);
}

/** Returns the label URIs of one day: first those inside spaces, then the others. */
function urisOf(day: number): string[] {
  const uri = (path: string, i: number) => `at://${i % 2 === 0 ? alice : bob}${path}`;
  return [
    ...Array.from({ length: spaceRows[day] ?? 0 }, (_, i) => uri(paths[i % paths.length] ?? '', i)),
    ...Array.from({ length: otherRows }, (_, i) =>
      i % 3 === 0 ? alice : uri(notSpaces[Math.floor(i / 3) % notSpaces.length] ?? '', i),
    ),
  ];
}

/**
 * Creates the store in an empty directory, in the state that an earlier version left: the removal was never requested.
 */
export async function writeSpaceStore(folder: string): Promise<void> {
  const store = openSqliteWriter({ folder, at: noon });
  for (const day of spaceRows.keys()) {
    const observations = urisOf(day).map((uri, i) => {
      const label = labelNumber(10_000 * day + i, { uri, src: labelers[i % 2] ?? '', val: `v${i % 7}`, exp: `${i}` });
      return { ...observationOf(label), live: i % 2 === 0 };
    });
    await store.append({ at: micros(noon + day * dayLength), observations, refusals: [], positions: [] });
  }
  await store.maintain(micros(noon + 4 * dayLength));
  await store.close();
  toEarlierState(folder);
}

/** Converts a state file to the schema of a version that never removed rows about spaces. */
export function toEarlierState(folder: string): void {
  const sql = 'DROP TABLE space_removal; DELETE FROM migration WHERE version > 3; PRAGMA user_version = 3';
  changeFile(`${folder}/state.sqlite`, sql);
}

/** Interval that covers all days of the store. */
export const everything = { start: noon, end: dayStart(20_000 + spaceRows.length) };
