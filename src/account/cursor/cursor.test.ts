import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cursors as arbitraryCursors, maxLengthDidWeb } from '../../../harness/accounts/snapshots.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import { labelActions } from '../../contract/vocabulary.ts';
import { inputLimits } from '../../input/limits.ts';
import { micros } from '../../store/time.ts';
import { type Cursor, createCursors, markOf, readSecrets } from './cursor.ts';

const [first, second, third] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill)) as [Buffer, Buffer, Buffer];
const cursors = createCursors([first]);

function flipped(text: string, bit: number): string {
  const bytes = Buffer.from(text, 'base64url');
  const at = Math.floor(bit / 8) % bytes.length;
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit % 8));
  return bytes.toString('base64url');
}

describe('a cursor', () => {
  it('is decrypted to its original content, and equal content is always encrypted to the same cursor', () => {
    fc.assert(
      fc.property(arbitraryCursors, (cursor) => {
        const text = cursors.seal(cursor);
        expect(cursors.open(text)).toEqual(cursor);
        expect(cursors.seal(cursor)).toBe(text);
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it.each([
    ['export', {}],
    ['snapshot', { observedThrough: micros(4_000_000_000_000_000) }],
  ])('(%s) fits into 1 KiB with every field at its maximum length', (wanted, latest) => {
    const [cursor] = fc.sample(
      arbitraryCursors.filter(({ kind }) => kind === wanted),
      1,
    );
    if (!cursor) throw new Error('no sample');
    const filters = {
      labeler: maxLengthDidWeb,
      value: '\u{1f600}'.repeat(32),
      action: 'removal_observed',
      target_kind: 'record',
    } as const;
    const snapshot = { ...cursor.snapshot, account: maxLengthDidWeb, filters, ...latest };
    const longest: Cursor = { ...cursor, snapshot };
    const text = cursors.seal(longest);
    expect(text.length).toBeLessThanOrEqual(inputLimits.cursor.bytes);
    expect(cursors.open(text)).toEqual(longest);
  });

  it('has a nonce that differs from the nonces of cursors with other content', () => {
    const nonceOf = (cursor: Cursor): string => Buffer.from(cursors.seal(cursor), 'base64url').toString('hex', 0, 12);
    fc.assert(
      fc.property(arbitraryCursors, (cursor) => {
        const other: Cursor = { ...cursor, snapshot: { ...cursor.snapshot, createdAt: cursor.snapshot.createdAt + 1 } };
        expect(nonceOf(other)).not.toBe(nonceOf(cursor));
      }),
    );
  });

  it('contains no readable part of a DID', () => {
    fc.assert(
      fc.property(arbitraryCursors, (cursor) => {
        const bytes = Buffer.from(cursors.seal(cursor), 'base64url');
        expect(bytes.includes(cursor.snapshot.account.slice(8))).toBe(false);
      }),
    );
  });

  it('is refused if a bit is flipped, or if the text is truncated or encoded differently', () => {
    fc.assert(
      fc.property(arbitraryCursors, fc.nat(), (cursor, bit) => {
        const text = cursors.seal(cursor);
        expect(cursors.open(flipped(text, bit))).toBeNull();
        expect(cursors.open(text.slice(0, bit % text.length))).toBeNull();
        expect(cursors.open(`${text}=`)).toBeNull();
        expect(cursors.open(` ${text}`)).toBeNull();
      }),
      { numRuns: 300 },
    );
  });

  it('is refused if the last character of its text is not canonical base64url', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const cursor of fc.sample(arbitraryCursors, 6)) {
      const text = cursors.seal(cursor);
      const others = [...alphabet].filter((last) => last !== text.at(-1)).map((last) => text.slice(0, -1) + last);
      expect(others.filter((other) => cursors.open(other) !== null)).toEqual([]);
    }
  });

  it('is refused without an exception if its text was never issued', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String(),
          fc.uint8Array().map((b) => Buffer.from(b).toString('base64url')),
        ),
        (text) => {
          expect(cursors.open(text)).toBeNull();
        },
      ),
    );
  });

  it('remains valid after one change of the secret, but not after two', () => {
    const [cursor] = fc.sample(arbitraryCursors, 1);
    if (!cursor) throw new Error('no sample');
    const text = cursors.seal(cursor);
    expect(createCursors([second, first]).open(text)).toEqual(cursor);
    expect(createCursors([second, first]).seal(cursor)).toBe(createCursors([second]).seal(cursor));
    expect(createCursors([third, second]).open(text)).toBeNull();
  });
});

it.each(['snapshot', 'export'] as const)(
  'a cursor (%s) of an earlier version, which does not contain the time of the latest page, remains valid',
  (kind) => {
    // Sealed by the version before that time was added.
    const sealed = {
      snapshot:
        'VEyUTh6vQ-DWI2UAi7Lca0Z1ENRq4aytcCRdEbuT8KfqaAsro5b7xU-1swv2OkR9JfNfNcNblDp6tr0Bwr63fQn89prxlhotFG82mbMUqRWdophbQPF3u5FxWEaC5U5vDV-0TQxPyrNEHg',
      export:
        'ShZa91DEapbiaYIFf8xELlz14r_OBW1xul_xzudRfr9RXlUYS-LU8Ag8OyCMLxCbWMCUoNY40cB2gjr5YbBz-DkOblbnYpjc3-YsxI_FkK3RPNgMgL3EBneLrBPg3hP1hrU39ELPAEJaRkca3Wi-Mk3raAIuAgwbHLPnoOGxZ03ugwgdJN_30SyV0R05-av-QsF2T-o',
    };
    const snapshot = {
      ...{ account: 'did:web:account.example', filters: { value: 'spam', action: labelActions[1] } },
      ...{ start: micros(1_000), end: micros(2_000), askedStart: micros(900), clipped: true },
      ...{
        generation: markOf({ generationId: 'g', revision: 3 }),
        frontier: micros(1_500),
        countBound: 7,
        pageRows: 500,
      },
      ...{ createdAt: 2, expiresAt: 900_002 },
    };
    const progress = { position: micros(1_200), count: 4, digest: Buffer.alloc(32, 5) };
    const cursor: Cursor = kind === 'export' ? { kind, snapshot, progress } : { kind, snapshot };
    expect(cursors.open(sealed[kind])).toEqual(cursor);
  },
);

describe('markOf', () => {
  it('returns a different mark for each generation', () => {
    const [a, b] = ['a', 'b'].map((generationId) => markOf({ generationId, revision: 0 }));
    expect(a).not.toBe(b);
    expect(a).toMatch(/^[0-9a-f]{16}$/);
  });

  it('returns a different mark for each revision of a generation', () => {
    const marks = [0, 1, 2].map((revision) => markOf({ generationId: 'a', revision }));
    expect(new Set(marks).size).toBe(3);
  });
});

it('readSecrets creates a missing secret file that only its owner can read, and later reuses it', () => {
  const path = join(folderInTest(), 'data', 'account-secret');
  const made = readSecrets(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readSecrets(path)).toEqual(made);
  expect(readFileSync(path, 'utf8')).toBe(`${made[0].toString('hex')}\n`);
  expect(readdirSync(join(path, '..'))).toEqual(['account-secret']);
});

it('readSecrets accepts a file with two secrets, and returns them in the order of the file, the current secret first', () => {
  const path = join(folderInTest(), 'secret');
  writeFileSync(path, `${'ab'.repeat(32)}\n${'CD'.repeat(32)}\n\n`);
  expect(readSecrets(path)).toEqual([Buffer.alloc(32, 0xab), Buffer.alloc(32, 0xcd)]);
});

it.each([
  ['no secret', ''],
  ['a secret that is too short', 'abcd\n'],
  ['a line that is not a secret', `${'ab'.repeat(32)}\nold\n`],
  ['three secrets', `${'ab'.repeat(32)}\n`.repeat(3)],
])('readSecrets refuses a file with %s and leaves it unchanged', (_what, text) => {
  const path = join(folderInTest(), 'secret');
  writeFileSync(path, text);
  expect(() => readSecrets(path)).toThrow(
    `the secret file ${path} must have one or two lines of 64 hex digits each, the current secret first`,
  );
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it.skipIf(process.getuid?.() === 0)('readSecrets throws an error that names the file if it is not readable', () => {
  const path = join(folderInTest(), 'secret');
  writeFileSync(path, '', { mode: 0o000 });
  chmodSync(path, 0o000);
  expect(() => readSecrets(path)).toThrow(`cannot read or create the secret file ${path}: permission denied (EACCES)`);
});
