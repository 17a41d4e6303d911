import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { elementsWith, textsOf } from '../../../harness/pages/html.ts';
import { root } from '../../../harness/process/imports.ts';
import { accountErrorTable, errorTable, labelerErrorTable } from '../../contract/errors.ts';
import { encode } from '../../http/representation/negotiation.ts';
import { renderPage } from '../../web/document.tsx';
import { reference, referenceDocuments } from './reference.tsx';
import { type ApiDocument, callsOf, fieldsOf } from './schemas.tsx';

/** The API reference shows the fields, calls, parameters and errors of the OpenAPI documents without scripts. */

const asset = (name: string) => readFileSync(join(root, 'assets', name));
const texts = referenceDocuments.map((name) => asset(name).toString('utf8'));
const documents = texts.map((text): ApiDocument => JSON.parse(text));
const addresses = { facts: 'https://facts.example', account: 'https://accounts.example', guessed: true };
const html = renderPage(reference(texts, addresses));
const said = textsOf(html.slice(html.indexOf('<body')).replace(/<\/html>$/, ''))
  .map(({ text }) => text)
  .join('');

const fields = documents.flatMap(({ components: { schemas } }) =>
  Object.entries(schemas).flatMap(([name, schema]) =>
    fieldsOf(name, schema, schemas).map((field) => ({ ...field, name: `${name}.${field.path}` })),
  ),
);

describe('the API reference', () => {
  it('shows the meaning of every field', () => {
    expect(fields.length).toBeGreaterThan(250);
    expect(fields.filter(({ meaning }) => meaning === '').map(({ name }) => name)).toEqual([]);
    expect(fields.filter(({ meaning }) => !said.includes(meaning.replaceAll('`', ''))).map(({ name }) => name)).toEqual(
      [],
    );
  });

  it('shows the unit of every number', () => {
    const isNumber = (text: string) => text === 'integer' || text === 'number';
    const numbers = fields.filter(({ type }) => type.some((part) => 'text' in part && isNumber(part.text)));
    expect(numbers.length).toBeGreaterThan(80);
    expect(numbers.filter(({ type }) => !type.some((part) => 'unit' in part)).map(({ name }) => name)).toEqual([]);
  });

  it('shows every call with each parameter and a program in each language', () => {
    for (const call of documents.flatMap(callsOf)) {
      expect(said).toContain(`GET ${call.path}`);
      expect(said).toContain(call.operation.description.replaceAll('`', ''));
      for (const { description } of call.parameters) expect(said).toContain(description.replaceAll('`', ''));
    }
    const calls = documents.flatMap(callsOf).length;
    const languages = elementsWith(html.slice(html.indexOf('<body')).replace(/<\/html>$/, ''), 'data-language');
    for (const language of ['curl', 'typescript', 'python']) {
      expect(languages.filter(({ value }) => value === language)).toHaveLength(calls);
    }
  });

  it('shows every error with its message and a remedy, and links to it', () => {
    const tables = { ...accountErrorTable, ...errorTable, ...labelerErrorTable };
    const entries = Object.entries(tables).map(([code, { status, message }]) => `${code} ${status}${message} Remedy: `);
    expect(entries.filter((entry) => !said.includes(entry))).toEqual([]);
    expect(Object.keys(tables).filter((code) => !html.includes(`href="#error-${code}"`))).toEqual([]);
  });

  it('mentions the errors that all calls have in common in the section of each call', () => {
    const calls = html.match(/<section class="call"/g) ?? [];
    const references = html.match(/<h4>Responses, besides the errors of every call<\/h4>/g) ?? [];
    expect(references).toHaveLength(calls.length);
  });

  it('has only links to existing ids, and no duplicate ids', () => {
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const targets = [...html.matchAll(/ href="#([^"]+)"/g)].map(([, target]) => target);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
  });

  it('is at most 60 kB when compressed, including its style and script', () => {
    const parts = [Buffer.from(html), ...['almanac.css', 'docs.css', 'docs.js'].map(asset)];
    for (const coding of ['br', 'gzip'] as const) {
      const bytes = parts.map((part) => encode(part, coding).length).reduce((sum, size) => sum + size, 0);
      expect(bytes).toBeLessThan(60_000);
    }
  });

  it('warns of common client errors: overlapping collections, the age of a fact, base paths, preflights and days', () => {
    for (const sentence of [
      'Collections overlap and do not add up: post.create includes post.create.reply and post.create.quote.',
      'add the seconds since retrieved_at to age_seconds',
      'Append the paths of the index to the base address as text',
      'a preflight permits If-None-Match alone: send neither Content-Type nor headers of your own',
      'Send exactly days=7 or days=30, or send start and end.',
    ]) {
      expect(said).toContain(sentence);
    }
  });

  it('uses the address of the service if it is known', () => {
    const known = renderPage(reference(texts, { ...addresses, facts: 'https://almanac.test/a', guessed: false }));
    expect(known).toContain("curl -sS --compressed 'https://almanac.test/a/v1/labels/overview'");
    expect(known).not.toContain('facts.example');
    expect(known).not.toContain('data-base');
    expect(html).toContain('data-base="https://facts.example"');
  });
});
