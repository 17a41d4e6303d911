import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leafHash } from './merkle.ts';
import {
  formatCheckpoint,
  openCheckpoint,
  openNote,
  parseCheckpoint,
  parseSignerKey,
  parseVerifierKey,
  signCheckpoint,
  signerKey,
  signNote,
} from './note.ts';

/** Published test vector for the notes of Go's checksum database. */
const vector = {
  signer: 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  verifier: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  line: '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};

/** Example checkpoint from the specification, and the published key of its log. */
const checkpointOfSpecification = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
`;

const key = signerKey('almanac.example/archive', Buffer.alloc(32, 7));
const other = signerKey('almanac.example/archive', Buffer.alloc(32, 8));

describe('a signing key', () => {
  it('has the text form and the key id of the published vector', () => {
    expect(parseSignerKey(vector.signer)?.verifier.text).toBe(vector.verifier);
    expect(parseVerifierKey(vector.verifier)?.id.toString('hex')).toBe('c74f20a3');
  });

  it('is refused if its id does not match its name and bytes, or if its encoding is damaged', () => {
    const wrong = [
      vector.verifier.replace('c74f20a3', 'c74f20a4'),
      vector.verifier.replace('Peter', 'Paul'),
      vector.verifier.slice(0, -1),
      vector.verifier.replace('+AR', '+AB'),
      `${vector.verifier}\n`,
      '',
    ];
    expect(wrong.map((text) => parseVerifierKey(text))).toEqual(wrong.map(() => null));
    expect(parseSignerKey(vector.verifier)).toBeNull();
    expect(parseSignerKey(vector.signer.replace('AYEK', 'AYEL'))).toBeNull();
  });

  it('is unchanged after it is formatted and parsed, whatever its bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
        const made = signerKey('a.example/b', seed);
        expect(parseSignerKey(made.text)?.verifier.text).toBe(made.verifier.text);
        expect(parseVerifierKey(made.verifier.text)?.text).toBe(made.verifier.text);
      }),
      { numRuns: 50 },
    );
  });

  it('is refused if its name is empty or contains white space or a plus sign', () => {
    for (const name of ['', 'a b', 'a+b', 'a\u00a0b', 'a\nb']) {
      expect(() => signerKey(name, randomBytes(32)), name).toThrow(RangeError);
    }
  });
});

describe('a signed note', () => {
  it('equals the published vector', () => {
    const signer = parseSignerKey(vector.signer);
    expect(signer && signNote(vector.text, signer)).toBe(`${vector.text}\n${vector.line}`);
  });

  it('opens with its key, even if its text has empty lines', () => {
    const text = 'one\n\ntwo\n';
    expect(openNote(Buffer.from(signNote(text, key)), key.verifier)).toEqual({ kind: 'verified', text });
  });

  it('opens with its key even if it also has a signature of an unknown key', () => {
    const text = 'one\n';
    const [, second = ''] = signNote(text, other).split('\n\n');
    const both = Buffer.from(`${signNote(text, key)}${second}`);
    expect(openNote(both, key.verifier).kind).toBe('verified');
    expect(openNote(both, other.verifier).kind).toBe('verified');
    expect(openNote(both, signerKey('c.example', Buffer.alloc(32, 7)).verifier).kind).toBe('unknown_key');
  });

  it('is refused after any single byte was changed', () => {
    const note = Buffer.from(signNote(formatCheckpoint({ origin: 'a', size: 1, root: leafHash(Buffer.of(1)) }), key));
    fc.assert(
      fc.property(fc.nat(note.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const altered = Buffer.from(note);
        altered[at] = (altered[at] ?? 0) ^ change;
        expect(openNote(altered, key.verifier).kind).not.toBe('verified');
      }),
      { numRuns: 500 },
    );
  });

  it('is refused if a known key has one valid and one invalid signature', () => {
    const [text = '', line = ''] = signNote('one\n', key).split('\n\n');
    const [, foreign = ''] = signNote('two\n', key).split('\n\n');
    const note = Buffer.from(`${text}\n\n${line}${foreign}`);
    expect(openNote(note, key.verifier)).toEqual({ kind: 'invalid_signature' });
  });

  it('is malformed if it has no signature, contains a control character, or is not valid UTF-8', () => {
    const note = signNote('one\n', key);
    const wrong = ['one\n', 'one\n\n', note.replace('one', 'o\te'), note.slice(0, -1), note.replace('— ', '- '), ''];
    for (const text of wrong) expect(openNote(Buffer.from(text), key.verifier), text).toEqual({ kind: 'malformed' });
    expect(openNote(Buffer.concat([Buffer.of(0xff), Buffer.from(note)]), key.verifier)).toEqual({ kind: 'malformed' });
  });
});

describe('a checkpoint', () => {
  it('from the specification is parsed and formatted unchanged', () => {
    const parsed = parseCheckpoint(checkpointOfSpecification);
    expect(parsed).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163 });
    expect(parsed && formatCheckpoint(parsed)).toBe(checkpointOfSpecification);
  });

  it('is refused with a leading zero, an empty line, a short root or a missing line', () => {
    const root = leafHash(Buffer.of(1)).toString('base64');
    const wrong = [
      `a\n01\n${root}\n`,
      `a\n-1\n${root}\n`,
      `a\n9007199254740993\n${root}\n`,
      `\n1\n${root}\n`,
      `a\n1\n${root}\n\n`,
      `a\n1\n${root.slice(0, -4)}\n`,
      `a\n1\n`,
      `a\n1\n${root}`,
    ];
    expect(wrong.map(parseCheckpoint)).toEqual(wrong.map(() => null));
    expect(parseCheckpoint(`a\n1\n${root}\nextension\n`)).toMatchObject({ size: 1 });
  });

  it('opens with the key that signed it, but not with a different key of the same name', () => {
    const root = leafHash(Buffer.of(1));
    const note = Buffer.from(signCheckpoint({ size: 1, root }, key));
    const checkpoint = { origin: 'almanac.example/archive', size: 1, root };
    expect(openCheckpoint(note, key.verifier)).toEqual({ kind: 'verified', checkpoint });
    expect(openCheckpoint(note, other.verifier)).toEqual({ kind: 'unknown_key' });
  });

  it('is malformed if its origin is not the name of the key that signed it', () => {
    const note = signNote(formatCheckpoint({ origin: 'b.example', size: 1, root: leafHash(Buffer.of(1)) }), key);
    expect(openCheckpoint(Buffer.from(note), key.verifier)).toEqual({ kind: 'malformed' });
  });
});
