import { beforeAll, describe, expect, it } from 'vitest';
import { alterations } from '../../../harness/archive/altered/alterations.ts';
import { type IntactArchive, intactArchive, verifiedAt } from '../../../harness/archive/altered/archives.ts';
import { type Content, copyOf } from '../../../harness/archive/forge.ts';
import { memoryReader } from '../../../harness/archive/memory-files.ts';
import { simulatedKey } from '../../../harness/archive/simulated-archive.ts';
import { exitCodeOf, verifyExitCodes } from './finding.ts';
import { type VerifyOptions, verifyArchive } from './verify.ts';

/**
 * Every deliberate alteration causes its expected exit code in each kind of verification: at first contact, with a
 * kept checkpoint, and with a key.
 */

let archives: IntactArchive;

beforeAll(async () => {
  archives = await intactArchive();
});

async function verdict(content: Content, options: Partial<VerifyOptions>) {
  const wait = (): Promise<void> => Promise.resolve();
  const reader = memoryReader(content);
  const report = await verifyArchive({ reader, key: null, kept: null, now: verifiedAt, wait, ...options });
  const code = exitCodeOf(report.findings);
  const deciding = report.findings.filter(({ kind }) => verifyExitCodes[kind] === code);
  return { code, report, paths: deciding.map(({ path }) => path) };
}

it('the table of alterations has at least 60 different entries and covers every kind of finding except an unreadable file', () => {
  const names = alterations.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(60);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(
    expect.arrayContaining([
      ...[
        'a byte of an archived body',
        'a removed row',
        'a removed day',
        'swapped directories of days',
        'a backdated day',
      ],
      ...[
        'a forked log of the same size',
        'a truncated tile',
        'a checkpoint of another key',
        'another key for the whole log',
      ],
    ]),
  );
  const kinds = new Set(alterations.flatMap(({ first, kept = first, key = first }) => [first, kept, key]));
  // No alteration leads to `unreadable`: a file that cannot be read is not an alteration.
  expect([...kinds, 'unreadable'].sort()).toEqual(Object.keys(verifyExitCodes).sort());
});

describe('a verification', () => {
  it('accepts an intact archive at first contact, with a saved checkpoint, and with a given key', async () => {
    const { intact, kept } = archives;
    expect(kept.note).toContain('\n2\n');
    const atFirst = await verdict(intact, {});
    expect(atFirst).toMatchObject({ code: 0, report: { closedDays: 4, openDays: 3, isFirstContact: true } });
    const later = await verdict(intact, { kept });
    expect(later).toMatchObject({ code: 0, report: { isFirstContact: false } });
    expect(later.report.keep?.note).toContain('\n4\n');
    expect(await verdict(intact, { key: simulatedKey.verifier })).toMatchObject({
      ...{ code: 0, report: { isFirstContact: false } },
    });
  });

  it.each(alterations.map((one) => [one.name, one] as const))(
    'reports %s at first contact, with a saved checkpoint and with a key, and saves no new checkpoint',
    async (_name, alteration) => {
      const { first, kept = first, key = first, path, alter } = alteration;
      const content = copyOf(archives.intact);
      alter(content, archives);
      const atFirst = await verdict(content, {});
      const withKept = await verdict(content, { kept: archives.kept });
      const withKey = await verdict(content, { key: simulatedKey.verifier });
      expect([atFirst.code, withKept.code, withKey.code]).toEqual(
        [first, kept, key].map((one) => verifyExitCodes[one]),
      );
      expect(withKept.paths).toContain(path);
      // A checkpoint of an altered archive must not be kept if the verification found the alteration.
      expect(withKept.report.keep).toBeNull();
      expect([atFirst.report.isFirstContact, withKept.report.isFirstContact]).toEqual([true, false]);
    },
  );
});
