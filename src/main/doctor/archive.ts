import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { dayOf, hourMs } from '../../archive/days/calendar.ts';
import { factNames, lineFileOf, pathOf } from '../../archive/days/day-files.ts';
import { indexFile, parseIndex } from '../../archive/days/index-file.ts';
import { issuesFile, parseIssues } from '../../archive/days/known-issues.ts';
import { parseSignerKey } from '../../archive/log/keys.ts';
import { systemWords } from '../../ops/errors.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { checkFolder } from './machine.ts';

/**
 * Minimum age in milliseconds of the last archived hour for which the archive counts as behind: one hour, plus time
 * for repeated requests.
 */
const behindMs = 2 * hourMs;

/**
 * Checks the directory of an archive, its key, its list of known issues, and whether an archiver is writing to it.
 * Checks nothing else if the directory cannot be used.
 */
export function checkArchive(folder: string, keyPath: string | null, now: number): Finding[] {
  const directory = checkFolder('archive', folder);
  if (directory.level !== 'ok') return [directory];
  return [directory, checkKey(keyPath ?? `${resolve(folder)}.key`), checkDays(folder, now), checkIssues(folder)];
}

function checkKey(path: string): Finding {
  const check = 'archive key';
  try {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0) return fail(check, `other users may read ${path}`, `run chmod 600 ${path}`);
    const key = parseSignerKey(readFileSync(path, 'utf8').trim());
    return key ? ok(check, key.verifier.text) : fail(check, `${path} is not a signing key`, 'restore it from a backup');
  } catch (error) {
    const todo =
      'the first start of almanac archive creates it; if the archive has closed days, restore it from a backup';
    return warn(check, `${path} cannot be read: ${systemWords(error)}`, todo);
  }
}

function checkDays(folder: string, now: number): Finding {
  const check = 'archived days';
  const index = parseIndex(read(folder, indexFile) ?? Buffer.alloc(0));
  if (!index) return warn(check, `${folder} contains no archive yet`, 'start almanac archive');
  const closed = index.days.filter(({ state }) => state === 'closed').length;
  const found = `${closed} closed and ${index.days.length - closed} open days`;
  const last = Math.max(...factNames.map((name) => lastHour(folder, lineFileOf(name), now)));
  if (now - last <= behindMs) return ok(check, found);
  return warn(check, `${found}; nothing was archived in the last two hours`, 'see the log of almanac archive');
}

/** Returns the last archived hour of today or yesterday, in milliseconds since 1970, or 0 if neither day has one. */
function lastHour(folder: string, name: string, now: number): number {
  for (const day of [dayOf(now), dayOf(now - 24 * hourMs)]) {
    const hours = [...(read(folder, pathOf(day, name))?.toString('utf8') ?? '').matchAll(/^\{"hour":"([^"]{20})"/gm)];
    const last = Date.parse(hours.at(-1)?.[1] ?? '');
    if (!Number.isNaN(last)) return last;
  }
  return 0;
}

function checkIssues(folder: string): Finding {
  const check = 'known issues';
  const bytes = read(folder, issuesFile);
  const issues = bytes ? parseIssues(bytes) : [];
  if (!issues)
    return fail(check, `${issuesFile} is invalid: new issues are not added to any day`, 'see docs/archive.md');
  return ok(check, `${issues.length} known issues`);
}

function read(folder: string, path: string): Buffer | null {
  try {
    return readFileSync(resolve(folder, path));
  } catch {
    return null;
  }
}
