import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDid } from '../../contract/identifiers.ts';
import { isHandle, isResolvableHandle, parseDidDocument, parseLabelKey } from './did-document.ts';

const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const strict = { allowHttp: false };

function fixture(name: string): string {
  return readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url), 'utf8');
}

function lines(name: string): string[] {
  return fixture(`interop/${name}`)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function parse(document: object, options = strict) {
  const parsed = parseDidDocument({ id: did, ...document }, did, options);
  if (parsed.kind === 'invalid') return parsed.reason;
  const { labelerDeclared, labelerEndpoint, labelKeys, handle } = parsed.document;
  return { handle, declared: labelerDeclared, endpoint: labelerEndpoint, keys: labelKeys };
}

const empty = { handle: null, declared: false, endpoint: null, keys: [] };

describe('a DID document of the interoperability fixtures', () => {
  it.each([
    ['bladerunner.club_labeler_did_doc.partial.json', 'https://bladerunner.club', 1],
    ['mod.bsky.app_labeler_did_doc.json', 'https://mod.bsky.app', 1],
    ['didkit_dholms.json', null, 0],
    ['didkit_witchcraft.json', null, 0],
    ['indigo_did_plc_doc.json', null, 0],
    ['indigo_did_plc_doc_legacy.json', null, 0],
    ['indigo_did_web_doc.json', null, 0],
  ])('named %s has the labeler endpoint %s and %i label keys', (name, endpoint, keys) => {
    const value = JSON.parse(fixture(`did-docs/${name}`)) as { id: string; alsoKnownAs?: string[] };
    const parsed = parseDidDocument(value, value.id, strict);
    const { document } = parsed.kind === 'document' ? parsed : { document: null };
    expect({
      did: document?.did,
      handle: document?.handle,
      endpoint: document?.labelerEndpoint ?? null,
      keys: document?.labelKeys.length,
    }).toEqual({ did: value.id, handle: value.alsoKnownAs?.[0]?.replace('at://', '') ?? null, endpoint, keys });
    expect(parseDidDocument(value, did.replace('e', 'f'), strict)).toEqual({ kind: 'invalid', reason: 'other_id' });
  });
});

describe("the parsed address of the account's host", () => {
  const pds = (service: object) => {
    const parsed = parseDidDocument({ id: did, service: [service] }, did, strict);
    return parsed.kind === 'document' ? parsed.document.pds : 'invalid';
  };
  const type = 'AtprotoPersonalDataServer';

  it.each([
    [{ id: '#atproto_pds', type, serviceEndpoint: 'https://pds.example.com' }, 'https://pds.example.com'],
    [{ id: `${did}#atproto_pds`, type, serviceEndpoint: 'https://pds.example.com' }, 'https://pds.example.com'],
    [{ id: '#atproto_pds', type, serviceEndpoint: 'http://pds.example.com' }, null],
    [{ id: '#atproto_pds', type, serviceEndpoint: 'https://pds.example.com/path' }, null],
    [{ id: '#atproto_pds', type: 'AtprotoLabeler', serviceEndpoint: 'https://pds.example.com' }, null],
    [{ id: '#other', type, serviceEndpoint: 'https://pds.example.com' }, null],
  ])('for the service %j is %s', (service, origin) => {
    expect(pds(service)).toBe(origin);
  });
});

describe('a DID document', () => {
  it('can omit every property except its id, and is invalid if the id is wrong or a list is malformed', () => {
    expect(parse({})).toEqual(empty);
    expect(parse({ service: null, verificationMethod: null, alsoKnownAs: null })).toEqual(empty);
    expect(parse({ id: `${did}x` })).toBe('other_id');
    expect(parse({ id: [did] })).toBe('other_id');
    expect(parse({ service: {} })).toBe('malformed_list');
    expect(parse({ service: [null, 7, 'x', [], {}], verificationMethod: [{ id: 7 }] })).toEqual(empty);
    for (const value of [null, 7, 'x', [], [did]]) {
      expect(parseDidDocument(value, did, strict)).toEqual({ kind: 'invalid', reason: 'not_an_object' });
    }
  });

  it('can spell the host of a did:web in upper case, but not a did:plc', () => {
    const key = { type: 'Multikey', publicKeyMultibase: 'zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme' };
    const parsedFor = (asked: string, spelled: string) => {
      const value = {
        id: spelled,
        service: [{ id: `${spelled}#atproto_labeler`, type: 'AtprotoLabeler', serviceEndpoint: 'https://l.example' }],
        verificationMethod: [{ ...key, id: `${spelled}#atproto_label` }],
      };
      const parsed = parseDidDocument(value, asked, strict);
      if (parsed.kind === 'invalid') return parsed.reason;
      const { did: read, labelerEndpoint, labelKeys } = parsed.document;
      return [read, labelerEndpoint, labelKeys.length];
    };
    const [web, capital] = ['did:web:labels.example', 'did:web:Labels.Example'];
    expect([parsedFor(web, capital), parsedFor(capital, web), parsedFor(did, did.toUpperCase())]).toEqual([
      [web, 'https://l.example', 1],
      [capital, 'https://l.example', 1],
      'other_id',
    ]);
  });

  it('claims its first at:// name, if that name is a handle', () => {
    const claimed = (alsoKnownAs: unknown) => {
      const parsed = parse({ alsoKnownAs });
      return typeof parsed === 'string' ? parsed : parsed.handle;
    };
    expect(claimed(['https://a.com', 'at://B.com', 'at://c.com'])).toBe('b.com');
    expect(claimed(['at://a.com/x', 'at://c.com'])).toBe(null);
    expect(claimed([7, null, 'at://a.com'])).toBe('a.com');
    expect(claimed('at://a.com')).toBe('malformed_list');
  });

  it.each([
    ['https://labeler.example', 'https://labeler.example'],
    ['https://labeler.example/', 'https://labeler.example'],
    ['HTTPS://Labeler.example:8443', 'https://labeler.example:8443'],
    ['https://labeler.example/path', null],
    ['https://labeler.example?x', null],
    ['https://labeler.example/#x', null],
    ['https://user@labeler.example', null],
    ['http://labeler.example', null],
    ['wss://labeler.example', null],
    ['javascript:1', null],
    ['', null],
    [{ uri: 'https://labeler.example' }, null],
    [`https://${'a'.repeat(600)}.example`, null],
  ])('with a labeler at %j has the labeler endpoint %s', (serviceEndpoint, endpoint) => {
    for (const id of ['#atproto_labeler', `${did}#atproto_labeler`]) {
      const service = [
        { id: '#atproto_pds', type: 'X' },
        { id, type: 'AtprotoLabeler', serviceEndpoint },
      ];
      expect(parse({ service })).toEqual({ ...empty, declared: true, endpoint });
    }
  });

  it('declares no labeler if the service has a different id or type or follows a thousand other services, and can name an http endpoint if http is allowed', () => {
    const service = { id: '#atproto_labeler', type: 'AtprotoLabeler', serviceEndpoint: 'http://127.0.0.1:80' };
    expect(parse({ service: [{ ...service, id: 'did:web:a.test#atproto_labeler' }] })).toEqual(empty);
    expect(parse({ service: [{ ...service, id: 'atproto_labeler' }] })).toEqual(empty);
    expect(parse({ service: [{ ...service, type: 'Other' }] })).toEqual(empty);
    expect(parse({ service: [...Array<object>(1000).fill({}), service] })).toEqual(empty);
    const endpoint = 'http://127.0.0.1';
    expect(parse({ service: [service] }, { allowHttp: true })).toEqual({ ...empty, declared: true, endpoint });
  });

  it('can contain a label key of each supported type, under a relative or a full id', () => {
    const interop = JSON.parse(fixture('interop/signature-fixtures.json')) as Record<string, string>[];
    for (const { publicKeyDid = '', publicKeyMultibase, didDocSuite: type } of interop) {
      const multikey = { type: 'Multikey', publicKeyMultibase: publicKeyDid.replace('did:key:', '') };
      const other = { ...multikey, id: `${did}#atproto` };
      const key = parseLabelKey('Multikey', multikey.publicKeyMultibase);
      expect(key?.point).toMatch(/^0[23][0-9a-f]{64}$/);
      for (const method of [
        { ...multikey, id: '#atproto_label' },
        { type, publicKeyMultibase, id: `${did}#atproto_label` },
      ]) {
        expect(parse({ verificationMethod: [other, method] })).toEqual({ ...empty, keys: [key] });
      }
    }
  });

  it('has one label key, which is the first valid key of its list', () => {
    const [first, second] = (JSON.parse(fixture('interop/signature-fixtures.json')) as Record<string, string>[]).map(
      ({ publicKeyDid = '' }) => publicKeyDid.replace('did:key:', ''),
    );
    const method = { id: '#atproto_label', type: 'Multikey' };
    const verificationMethod = ['no key', second, first, second].map((publicKeyMultibase) => ({
      ...method,
      publicKeyMultibase,
    }));
    expect(parse({ verificationMethod })).toMatchObject({ keys: [parseLabelKey('Multikey', second ?? '')] });
  });

  it('never causes the parser to throw, regardless of its content', () => {
    const known = fc.constantFrom(
      'id',
      'service',
      'verificationMethod',
      'alsoKnownAs',
      'type',
      'serviceEndpoint',
      'publicKeyMultibase',
    );
    const foreign = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc.constantFrom('#atproto_labeler', '#atproto_label', 'AtprotoLabeler', 'Multikey', 'https://a.b', 'zQ3sh'),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(known, tie('value'), { maxKeys: 5 }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(known, foreign), (document) => {
        const parsed = parseDidDocument({ ...document, id: did }, did, strict);
        return parsed.kind === 'document' || parsed.reason === 'malformed_list';
      }),
    );
  });
});

describe('a label key', () => {
  it('is rejected if it is not a point of its curve, has a type that is unsupported or does not fit its encoding, or is too long', () => {
    const key = 'zQ3shmV1BNcX17coaDbfen6zArEad6SCLT3jVWCbC6Y9iinTa';
    expect(parseLabelKey('Multikey', key)).not.toBe(null);
    for (const [type, text] of [
      ['Multikey', ''],
      ['Multikey', 'z'],
      ['Multikey', key.slice(1)],
      ['Multikey', key.slice(0, -1)],
      ['Multikey', key.replace('m', '0')],
      ['Multikey', 'z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'],
      ['Multikey', `z${'1'.repeat(1_000_000)}`],
      ['EcdsaSecp256k1VerificationKey2019', key],
      ['Ed25519VerificationKey2020', key],
    ] as const) {
      expect(parseLabelKey(type, text)).toBe(null);
    }
  });
});

describe('the identifier checks', () => {
  it('classify handles as the interoperability tests expect', () => {
    expect(lines('handle_syntax_valid.txt').filter((text) => !isHandle(text))).toEqual([]);
    expect(lines('handle_syntax_invalid.txt').filter((text) => isHandle(text))).toEqual([]);
  });

  it('reject handles in domains that are not public, because such handles cannot be resolved', () => {
    const names = ['a.com', 'A.B.co.uk', 'a.local', 'a.LOCALHOST', 'a.onion', 'a.arpa', 'a.test', 'com'];
    expect(names.filter(isResolvableHandle)).toEqual(['a.com', 'A.B.co.uk']);
  });

  it('classify DIDs of the two resolved methods as the interoperability tests expect', () => {
    const resolved = lines('did_syntax_valid.txt').filter((text) => /^did:(plc|web):/.test(text) && isDid(text));
    expect(resolved.every((text) => /^did:plc:[a-z2-7]{24}$|^did:web:[^:/]+$/.test(text))).toBe(true);
    expect(lines('did_syntax_invalid.txt').filter(isDid)).toEqual([]);
  });
});
