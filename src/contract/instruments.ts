import Type from 'typebox';
import { contractIds } from './identifiers.ts';
import { closed, constant, orNull, timestamp, word } from './schema.ts';
import { freshnessStates, instrumentStates } from './vocabulary.ts';

/** An entry of the instrument index: one instrument and its state. */
export const InstrumentEntry = closed(
  {
    instrument: word(['weather', 'labels', 'drift'], 'Instrument identifier.'),
    state: word(
      instrumentStates,
      'PRESENT: the artifact is readable, though the fact may still be refused. UNAVAILABLE: it cannot be read. NOT_PUBLISHED: deliberately private.',
    ),
    generated_at: orNull(
      timestamp('Instant.'),
      'When the instrument produced its artifact; null when unknown or unusable.',
    ),
    endpoints: Type.Array(Type.String(), {
      description:
        "Paths of the instrument's facts. Append each to the base address, which may have a path of its own.",
    }),
    note: Type.String({ description: 'What the instrument observes, or why none of its facts are published.' }),
    freshness_state: Type.Optional(
      word(freshnessStates, 'Only for the label instrument, and only when its artifact is readable.'),
    ),
  },
  { title: 'InstrumentEntry', description: 'One instrument and its state.' },
);
export type InstrumentEntry = Type.Static<typeof InstrumentEntry>;

/** The instrument index: all instruments with their states (contract, `GET /v1/instruments`). */
export const InstrumentIndex = closed(
  {
    contract: constant(contractIds.instruments, 'Identifier of this contract.'),
    retrieved_at: timestamp('When the service read the artifacts.'),
    instruments: Type.Array(InstrumentEntry, {
      minItems: 3,
      maxItems: 3,
      description: 'All instruments, in a fixed order.',
    }),
  },
  { title: 'InstrumentIndex', description: 'Every instrument is listed, whatever its state: none is ever omitted.' },
);
export type InstrumentIndex = Type.Static<typeof InstrumentIndex>;

/** Liveness of the publication service, independent of the instruments. */
export const Health = closed(
  {
    status: Type.Literal('ok', { description: 'Always ok.' }),
    service: Type.String({ description: 'Name of the answering service.' }),
  },
  { title: 'Health', description: 'Liveness of the publication service, independent of the instruments.' },
);
export type Health = Type.Static<typeof Health>;
