import { OperatorError } from '../../ops/errors.ts';
import { text } from '../../ops/setting.ts';
import { resolveSettings } from '../../ops/settings.ts';
import type { Command } from '../command.ts';

const settings = {
  store: text('store', 'URL', '', 'the database, postgres://ADMIN@HOST/DATABASE, with a role that may create roles'),
  writerRole: text('writer-role', 'NAME', 'almanac_writer', 'role of almanac labels, which owns the tables'),
  readerRole: text('reader-role', 'NAME', 'almanac_reader', 'role of almanac account, which can only read'),
};

/** `almanac store init`: creates the store in a PostgreSQL database, with its roles. */
export const storeCommand: Command = {
  summary: 'creates the observation store in a PostgreSQL database, with a role that writes and a role that reads',
  operands: 'init',
  settings,
  async run({ args, env, knownFlags, print }) {
    const { values, positionals } = resolveSettings(settings, { args, env, knownFlags });
    if (positionals.length !== 1 || positionals[0] !== 'init') {
      throw new OperatorError('store requires an action: almanac store init --store postgres://ADMIN@HOST/DATABASE');
    }
    const [{ parseStoreUrl }, { initializeStore }, { refused }] = await Promise.all([
      import('../../store/open.ts'),
      import('../../store/postgres/schema/roles.ts'),
      import('../labels/opened-store.ts'),
    ]);
    const place = parseStoreUrl(values.store);
    if (place.kind !== 'postgres') {
      throw new OperatorError('store init is for PostgreSQL: almanac labels creates a store in a directory by itself');
    }
    const roles = { writer: values.writerRole, reader: values.readerRole };
    await initializeStore(place, roles, Date.now() * 1000).catch((error: unknown) => {
      throw refused(values.store, error);
    });
    print(`the schema ${place.schema} contains a store; ${roles.writer} writes it, and ${roles.reader} reads it`);
    print(
      `both roles have no password yet: set them (\\password ${roles.writer}), or let pg_hba.conf authenticate them`,
    );
    return 0;
  },
};
