import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { applicationId, openWritable, settled } from './connection.ts';

it('a read-only connection throws not_a_store if its file was removed before the first read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-connection-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'day.sqlite');
  const writer = openWritable(path, 1024 * 1024);
  onTestFinished(() => void writer.close());
  writer.pragma(`application_id = ${applicationId}`);
  const reader = new Database(path, { readonly: true });
  rmSync(path);
  expect(() => settled(reader, path, 1024 * 1024)).toThrow(expect.objectContaining({ code: 'not_a_store' }));
  expect(reader.open).toBe(false);
});
