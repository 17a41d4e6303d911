/**
 * Schema of the refused rows of an open day. Earlier versions stored them as positions with the endpoints `refused/0`
 * to `refused/f`. A new day takes over the refused rows of the previous day, and only the refused rows of the newest
 * day are used. Sealed days therefore contain no refused rows.
 */

/** First schema version of an open day with the table `refused_rows`. */
export const refusedRowsFrom = 4;

const isEarlier = "endpoint GLOB 'refused/[0-9a-f]'";

/** SQL that selects the refused rows of a file without the table. */
export const earlierRefusedRows = `SELECT source, instr('0123456789abcdef', substr(endpoint, 9)) - 1 AS bucket,
  value AS rows FROM position WHERE ${isEarlier}`;

/** SQL that creates the table `refused_rows` and moves the refused rows into it. */
export const refusedRowsTable = `CREATE TABLE refused_rows(source TEXT NOT NULL, bucket INTEGER NOT NULL, rows TEXT NOT NULL,
  PRIMARY KEY(source, bucket)) WITHOUT ROWID;
INSERT INTO refused_rows(source, bucket, rows) ${earlierRefusedRows};
DELETE FROM position WHERE ${isEarlier};`;

/** Returns true if the endpoint of a position shows that an earlier version stored refused rows in that position. */
export function isEarlierRefusedRows(endpoint: string): boolean {
  return /^refused\/[0-9a-f]$/.test(endpoint);
}
