import { OperatorError } from '../../ops/errors.ts';
import { text, toggle } from '../../ops/setting.ts';
import type { Command } from '../command.ts';
import { defaultData } from '../facts/facts-settings.ts';

const settings = {
  store: text('store', 'URL', '', 'the database, postgres://ADMIN@HOST/DATABASE, with a role that may create roles'),
  writerRole: text(
    'writer-role',
    'NAME',
    'almanac_writer',
    'database role used by almanac labels, which owns the tables',
  ),
  readerRole: text('reader-role', 'NAME', 'almanac_reader', 'read-only database role used by almanac account'),
  state: text(
    'state',
    'DIR',
    `${defaultData}/labels`,
    'directory of the list of denied labelers, if FROM or TO is in PostgreSQL',
  ),
  once: toggle(
    'once',
    'exit once every row is copied, even if an instrument is still writing FROM (almanac store copy)',
  ),
  handOver: toggle(
    'hand-over',
    'stop the instrument that is writing FROM once every row is copied (almanac store copy)',
  ),
};

const usage =
  'store requires an action: almanac store init --store postgres://ADMIN@HOST/DATABASE, store copy FROM TO, or store reopen URL';

/** `almanac store`: creates a store in a database, and copies stores. */
export const storeCommand: Command<typeof settings> = {
  summary: 'creates the observation store in a PostgreSQL database, and copies a store that an instrument is writing',
  operands: 'init | copy FROM TO | reopen URL',
  settings,
  exitCodes: [
    { code: 0, meaning: 'done; a copy is complete and verified' },
    { code: 1, meaning: 'an error, or a copy that differs from its source' },
    { code: 3, meaning: 'with --once: every row is copied, but an instrument is still writing FROM' },
  ],
  async run(values, { positionals, print }) {
    const [action, from, to, ...rest] = positionals;
    const { copyStores, createStore, reopenStore } = await import('./store-copy.ts');
    if (action === 'init' && from === undefined) return createStore(values, print);
    if (action === 'reopen' && from !== undefined && to === undefined) return reopenStore(from, print);
    if (action !== 'copy' || from === undefined || to === undefined || rest.length > 0) throw new OperatorError(usage);
    const { state, once, handOver } = values;
    return copyStores({ from, to, state, once, handOver }, print);
  },
};
