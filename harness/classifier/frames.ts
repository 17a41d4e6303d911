import fc, { type Arbitrary } from 'fast-check';
import { tracked } from '../../src/weather/classify/metric-names.ts';

/**
 * Generates well-formed JSON texts that resemble frames, with every notation that JSON allows: escapes, white space,
 * any key order, duplicate keys, similar keys at every level, all number formats.
 */

/** Generator of JSON text. */
type Text = Arbitrary<string>;

const space: Text = fc.constantFrom('', '', '', '', ' ', '\n', '\t', '\r', ' \n\t\r ');

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Formats a string as JSON. Each entry of `styles` selects the notation of one code unit. */
function spell(value: string, styles: readonly number[]): string {
  const units = value.split('').map((unit, at) => {
    const style = styles[at % styles.length] ?? 0;
    const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
    const short = shortEscapes[unit];
    if (style === 1) return `\\u${hex}`;
    if (style === 2) return `\\u${hex.toUpperCase()}`;
    if (style === 3 && short) return short;
    return unit < ' ' || unit === '"' || unit === '\\' ? (short ?? `\\u${hex}`) : unit;
  });
  return `"${units.join('')}"`;
}

const plain = fc.constant<number[]>([]);
const styles = fc.oneof(
  { weight: 4, arbitrary: plain },
  { weight: 1, arbitrary: fc.array(fc.nat(3), { maxLength: 9 }) },
);

function spelled(value: string): Text {
  return styles.map((chosen) => spell(value, chosen));
}

function oneSpelled(values: readonly string[]): Text {
  return fc.constantFrom(...values).chain(spelled);
}

const anyString: Text = fc
  .tuple(fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), fc.string({ unit: 'grapheme', maxLength: 90 })), styles)
  .map(([value, chosen]) => spell(value, chosen));

const anyNumber: Text = fc.oneof(
  fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,19})(?:\.[0-9]{1,9})?(?:[eE][+-]?[0-9]{1,3})?$/),
  fc.constantFrom(
    '0',
    '-0',
    '-1',
    '0.0',
    '1.0',
    '1e3',
    '1E+3',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
  ),
);

const anyKey: Text = fc.oneof(
  {
    weight: 3,
    arbitrary: oneSpelled(['time_us', 'kind', 'commit', 'account', 'cursor', 'operation', 'collection', 'record']),
  },
  {
    weight: 3,
    arbitrary: oneSpelled(['reply', 'embed', '$type', 'active', 'status', 'identity', 'did', 'text', 'rkey']),
  },
  {
    weight: 1,
    arbitrary: oneSpelled(['__proto__', 'constructor', 'toString', '', 'time_u', 'time_uss', 'Kind', 'kind ']),
  },
  { weight: 1, arbitrary: anyString },
);

function listed(open: string, close: string, items: Text, maxLength: number): Text {
  return fc
    .tuple(fc.array(fc.tuple(space, items, space), { maxLength }), space)
    .map(([all, empty]) => `${open}${all.length ? all.map((item) => item.join('')).join(',') : empty}${close}`);
}

function member(key: Text, value: Text): Text {
  return fc.tuple(key, space, space, value).map(([name, before, after, text]) => `${name}${before}:${after}${text}`);
}

const { anyValue } = fc.letrec<{ anyValue: string }>((tie) => ({
  anyValue: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false', '{}', '[]'),
    anyNumber,
    anyString,
    listed('[', ']', tie('anyValue'), 4),
    listed('{', '}', member(anyKey, tie('anyValue')), 5),
  ),
}));

/**
 * Generates an object with the given properties among others, in any order. Most objects have each property exactly
 * once.
 */
function objectWith(members: Readonly<Record<string, Text>>): Text {
  const known = Object.entries(members).map(([key, value]) =>
    member(spelled(key), fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: anyValue })),
  );
  const orderly = fc.shuffledSubarray(known, { minLength: known.length }).chain((all) => fc.tuple(...all));
  const other = member(anyKey, anyValue);
  const wild = fc.array(fc.oneof(...known, other), { maxLength: 8 });
  const among = fc.tuple(orderly, fc.array(other, { maxLength: 2 }), fc.nat(8)).map(([all, others, at]) => {
    const place = at % (all.length + 1);
    return [...all.slice(0, place), ...others, ...all.slice(place)];
  });
  return fc
    .tuple(fc.oneof({ weight: 3, arbitrary: among }, { weight: 1, arbitrary: wild }), space, space, space)
    .map(([all, first, between, last]) => `{${first}${all.join(`${between},${last}`)}${last}}`);
}

const embed = objectWith({
  $type: oneSpelled([...tracked.embeds.map(([, type]) => type), 'app.bsky.embed.audio', '']),
});
const record = objectWith({ reply: fc.oneof(listed('{', '}', member(anyKey, anyValue), 3), anyValue), embed });
const posts = Array.from({ length: 8 }, () => 'app.bsky.feed.post');
const commit = objectWith({
  operation: oneSpelled(['create', 'create', 'update', 'delete', 'upsert', 'Create', '']),
  collection: oneSpelled([
    ...tracked.collections.map(([, nsid]) => nsid),
    ...posts,
    'app.bsky.feed.posts',
    'app.bsky.feed.pos',
    'App.bsky.feed.post',
    'com.example.thing',
    '',
  ]),
  record,
});
const account = objectWith({
  active: fc.constantFrom('true', 'false', 'null', '"true"'),
  status: oneSpelled([...tracked.statuses, 'throttled', '']),
});
const instant: Text = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map(String) },
  { weight: 1, arbitrary: anyNumber },
  { weight: 1, arbitrary: fc.integer().map((number) => `"${number}"`) },
);

const frame: Text = objectWith({
  did: anyString,
  time_us: instant,
  kind: oneSpelled(['commit', 'commit', 'commit', 'commit', 'account', 'account', 'identity', 'sync', '']),
  commit,
  account,
  cursor: instant,
});

/** Generates the bytes of a well-formed JSON text. Most texts are frames. */
export const frames: Arbitrary<Buffer> = fc
  .tuple(space, fc.oneof({ weight: 20, arbitrary: frame }, { weight: 1, arbitrary: anyValue }), space)
  .map((parts) => Buffer.from(parts.join('')));

const method = 'network.bsky.jetstream.subscribeEvents';
const twoDigits = fc.integer({ min: 0, max: 61 }).map((number) => String(number).padStart(2, '0'));
const micros = fc.stringMatching(/^[0-9]{6}$/);
/**
 * Generates datetimes. Most are in the same minute, as in a stream; some have an invalid part or an unusual number of
 * decimals.
 */
const datetime: Text = fc
  .oneof(
    { weight: 8, arbitrary: fc.tuple(twoDigits, micros).map((parts) => `2026-08-13T06:47:${parts.join('.')}Z`) },
    { weight: 2, arbitrary: fc.tuple(twoDigits, twoDigits).map(([a, b]) => `2026-08-${a}T${b}:47:43.959305Z`) },
    { weight: 1, arbitrary: fc.stringMatching(/^2026-08-13T06:47:[0-5][0-9]\.[0-9]{1,10}Z$/) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.nat(26), fc.constantFrom(':', '/', 'Z', ' ', 'z', '9'))
        .map(
          ([at, put]) => `2026-08-13T06:47:43.959305Z`.slice(0, at) + put + `2026-08-13T06:47:43.959305Z`.slice(at + 1),
        ),
    },
  )
  .map((text) => `"${text}"`);

const eventFrame: Text = objectWith({
  $type: oneSpelled(['message', 'message', 'message', 'message', 'error', 'messages', '']),
  payload: objectWith({
    $type: oneSpelled(
      [...Array.from({ length: 6 }, () => 'commit'), 'account', 'identity', 'sync', 'info', 'weather']
        .map((kind) => `${method}#${kind}`)
        .concat(''),
    ),
    did: anyString,
    seq: instant,
    time: datetime,
    witnessedAt: datetime,
    operation: oneSpelled(['create', 'create', 'update', 'delete', 'upsert', '']),
    collection: oneSpelled([...tracked.collections.map(([, nsid]) => nsid), ...posts, 'com.example.thing', '']),
    record,
    account,
    sync: objectWith({ seq: fc.constantFrom('0', '0', '7', '"0"') }),
  }),
});

/** Generates the bytes of a well-formed JSON text. Most texts are frames of the method `subscribeEvents`. */
export const eventFrames: Arbitrary<Buffer> = fc
  .tuple(space, fc.oneof({ weight: 20, arbitrary: eventFrame }, { weight: 1, arbitrary: anyValue }), space)
  .map((parts) => Buffer.from(parts.join('')));
