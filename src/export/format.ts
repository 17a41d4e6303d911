import type { AccountRow, ExportManifest } from '../contract/account.ts';
import { canonicalJson } from '../contract/canonical.ts';
import type { Total } from './answers.ts';
import { csvHead, csvRecord } from './csv.ts';

/** Formats of the file. */
export const exportFormats = ['json', 'ndjson', 'csv'] as const;
/** A format of the file. */
export type ExportFormat = (typeof exportFormats)[number];

/** Position of a part in the file, and whether there are others. */
export interface PartPlace {
  readonly index: number;
  readonly several: boolean;
}

/** File format of an export. Each method returns the next piece of text and buffers nothing. */
export interface Layout {
  begin(manifest: ExportManifest, place: PartPlace): string;
  /** `text` is the row's canonical JSON, `nth` counts from 0 in the part. */
  row(row: AccountRow, text: string, nth: number): string;
  end(total: Total): string;
  finish(rows: number, several: boolean): string;
}

/** As `/download` returns it; several parts form a list of such documents. */
const json: Layout = {
  begin: (manifest, { index, several }) =>
    `${several ? (index === 0 ? '{"parts":[\n' : ',\n') : ''}{"manifest":${canonicalJson(manifest)},"rows":[\n`,
  row: (_row, text, nth) => (nth === 0 ? text : `,\n${text}`),
  end: ({ count, content_sha256 }) => `\n],"count":${count},"content_sha256":"${content_sha256}"}`,
  finish: (rows, several) => (several ? `\n],"count":${rows}}\n` : '\n'),
};

/** The manifest, the rows, and a last line with their count and digest; several parts are concatenated. */
const ndjson: Layout = {
  begin: (manifest) => `${canonicalJson(manifest)}\n`,
  row: (_row, text) => `${text}\n`,
  end: ({ count, content_sha256 }) => `${canonicalJson({ count, content_sha256 })}\n`,
  finish: () => '',
};

/** Only the rows: the manifest is in a second file. */
const csv: Layout = {
  begin: (_manifest, { index }) => (index === 0 ? csvHead : ''),
  row: (row) => csvRecord(row),
  end: () => '',
  finish: () => '',
};

/** The layout of each format. */
export const layouts: Record<ExportFormat, Layout> = { json, ndjson, csv };

/** A finished part without its rows. */
export interface PartSummary extends Total {
  readonly manifest: ExportManifest;
}

/** Text of a CSV file's manifest. */
export function manifestBeside(parts: readonly PartSummary[], fileSha256: string): string {
  const [only] = parts;
  const content = parts.length === 1 ? { ...only } : { parts, count: parts.reduce((sum, { count }) => sum + count, 0) };
  return `${JSON.stringify({ ...content, file_sha256: fileSha256 }, null, 1)}\n`;
}
