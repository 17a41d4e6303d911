import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../harness/process/imports.ts';
import { parameterComponents } from '../../src/contract/account-openapi/document.ts';
import { accountErrorTable, errorTable } from '../../src/contract/errors.ts';
import { accountPaths, paths } from '../../src/contract/identifiers.ts';
import { coverageStatuses, freshnessStates, instrumentStates } from '../../src/contract/vocabulary.ts';
import { pagePath } from '../../src/facts/app.ts';
import { factsDocuments } from '../../src/facts/documents.ts';
import { labelRefusals } from '../../src/facts/resources.ts';

/**
 * Tests `/llms.txt` in both directions: everything that it mentions exists, and everything that exists is mentioned.
 */

const guide = readFileSync(join(root, 'assets/llms.txt'), 'utf8');

function section(heading: string): string {
  const text = guide.split(`\n## ${heading}\n`)[1];
  if (text === undefined) throw new Error(`no section ${heading}`);
  return text.split('\n## ')[0] ?? '';
}

/** Returns backquoted words that look like codes, fields or states. */
function words(text: string): string[] {
  return [...text.matchAll(/`([a-z][a-z_0-9]+)`/g)].map(([, word = '']) => word);
}

/** Returns the pair `status code` for each code in lines such as `503 `a`, `b`: …`. */
function statuses(text: string): string[] {
  return [...text.matchAll(/(?<![0-9])([45]\d\d) ((?:`[a-z_]+`(?:, )?)+)/g)].flatMap(([, status, codes = '']) =>
    words(codes).map((code) => `${status} ${code}`),
  );
}

function table(errors: Readonly<Record<string, { status: number }>>): string[] {
  return Object.entries(errors).map(([code, { status }]) => `${status} ${code}`);
}

describe('/llms.txt', () => {
  it('links to every path of the contract, and only to existing paths', () => {
    const linked = [...guide.matchAll(/\]\(\{base\}([^)]*)\)/g)].map(([, path = '']) => path);
    const there = [
      pagePath,
      ...Object.values(paths),
      ...factsDocuments(join(root, 'assets'), [], '', { userAgent: '', contact: null }).routes,
    ];
    expect(linked.filter((path) => !there.includes(path))).toEqual([]);
    expect(Object.values(paths).filter((path) => !linked.includes(path))).toEqual([]);
    expect(linked).toEqual(expect.arrayContaining(['/docs', '/policy']));
  });

  it('lists every state of a label reading, and its response', () => {
    const reported = [...section('States of the label overview').matchAll(/^- `(\w+)`: (\d+)(?: `(\w+)`)?\./gm)];
    const answers = freshnessStates.map((state) => {
      const code = state === 'fresh' || state === 'warming_up' ? undefined : labelRefusals[state];
      return [state, code === undefined ? '200' : String(errorTable[code].status), code];
    });
    expect(reported.map(([, state, status, code]) => [state, status, code])).toEqual(answers);
    for (const status of coverageStatuses) expect(words(guide)).toContain(status);
    for (const state of instrumentStates) expect(guide).toContain(state);
  });

  it('lists exactly the errors of the facts API, each with its status', () => {
    expect(statuses(section('Errors of the facts API')).sort()).toEqual(table(errorTable).sort());
  });

  it('lists exactly the paths, parameters and errors of the account-view API', () => {
    const account = section('Labels observed on one account');
    const reported = [...account.matchAll(/`(\/\w+)\?/g)].map(([, path = '']) => path);
    expect(
      Object.values(accountPaths).filter(
        (path) => !reported.includes(path) && !Object.values<string>(paths).includes(path),
      ),
    ).toEqual([]);
    expect(reported.filter((path) => !Object.values<string>(accountPaths).includes(path))).toEqual([]);

    const names = Object.values(parameterComponents).map(({ name }) => name);
    const asked = [...account.matchAll(/[?&](\w+)=/g)].map(([, name = '']) => name);
    expect(asked.filter((name) => !names.includes(name))).toEqual([]);
    expect(names.filter((name) => !asked.includes(name) && !words(account).includes(name))).toEqual([]);

    const own = Object.keys(accountErrorTable).filter((code) => !Object.hasOwn(errorTable, code));
    const coded = statuses(account);
    expect(coded.filter((line) => !table(accountErrorTable).includes(line))).toEqual([]);
    expect(own.filter((code) => !coded.some((line) => line.endsWith(` ${code}`)))).toEqual([]);
  });
});
