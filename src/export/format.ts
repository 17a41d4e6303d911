import type { AccountRow, ExportManifest } from '../contract/account.ts';
import { canonicalJson, csvCell } from '../contract/encodings.ts';
import type { Total } from './service.ts';

/** File formats of an export. */
export const exportFormats = ['json', 'ndjson', 'csv'] as const;
/** One of the file formats of an export. */
export type ExportFormat = (typeof exportFormats)[number];

/** Position of a part in the file. */
interface PartPlace {
  /** Index of the part, starting at 0. */
  readonly index: number;
  /** True if the file contains more than one part. */
  readonly several: boolean;
}

/** Serializer of a file format. Each method returns the next piece of the file's text; nothing is buffered. */
interface Layout {
  /** Formats the start of a part. */
  begin(manifest: ExportManifest, place: PartPlace): string;
  /** Formats a row; `text` is the row as canonical JSON, and `nth` is its index in the part. */
  row(row: AccountRow, text: string, nth: number): string;
  /** Formats the end of a part. */
  end(total: Total): string;
  /** Formats the end of the file; `rows` is the number of rows in all parts. */
  finish(rows: number, several: boolean): string;
}

/** JSON format: the document that `/download` returns; for several parts, an object with a list of such documents. */
const json: Layout = {
  begin: (manifest, { index, several }) =>
    `${several ? (index === 0 ? '{"parts":[\n' : ',\n') : ''}{"manifest":${canonicalJson(manifest)},"rows":[\n`,
  row: (_row, text, nth) => (nth === 0 ? text : `,\n${text}`),
  end: ({ count, content_sha256 }) => `\n],"count":${count},"content_sha256":"${content_sha256}"}`,
  finish: (rows, several) => (several ? `\n],"count":${rows}}\n` : '\n'),
};

/** NDJSON format: the manifest, the rows, and a last line with count and digest; several parts are concatenated. */
const ndjson: Layout = {
  begin: (manifest) => `${canonicalJson(manifest)}\n`,
  row: (_row, text) => `${text}\n`,
  end: ({ count, content_sha256 }) => `${canonicalJson({ count, content_sha256 })}\n`,
  finish: () => '',
};

/** CSV format, which contains only rows; the manifest is written to a separate file. */
const csv: Layout = {
  begin: (_manifest, { index }) => (index === 0 ? csvHead : ''),
  row: (row) => csvRecord(row),
  end: () => '',
  finish: () => '',
};

/** Serializer of each file format. */
export const layouts: Record<ExportFormat, Layout> = { json, ndjson, csv };

/** Manifest, count and digest of a complete part. */
export interface PartSummary extends Total {
  readonly manifest: ExportManifest;
}

/** Formats the file that accompanies a CSV file: the manifests, the row count and the SHA-256 of the CSV file. */
export function manifestBeside(parts: readonly PartSummary[], fileSha256: string): string {
  const [only] = parts;
  const content = parts.length === 1 ? { ...only } : { parts, count: parts.reduce((sum, { count }) => sum + count, 0) };
  return `${JSON.stringify({ ...content, file_sha256: fileSha256 }, null, 1)}\n`;
}

/** Columns of a CSV file, in order. A row without `cid` or `expires_at` has an empty cell. */
export const csvColumns = [
  'observed_at',
  'labeler_did',
  'action',
  'value',
  'uri',
  'cid',
  'source_timestamp',
  'expires_at',
  'signature',
] as const satisfies readonly (keyof AccountRow)[];

/** First record of a CSV file, with the names of the columns. */
export const csvHead = `${csvColumns.join(',')}\r\n`;

/** Formats a row as a record of RFC 4180. */
export function csvRecord(row: AccountRow): string {
  return `${csvColumns.map((name) => csvCell(row[name] ?? '')).join(',')}\r\n`;
}
