import { httpSchemes } from '../input/url.ts';
import { list } from '../ops/setting.ts';
import { operatorUrl } from './operator-url.ts';

/** The `--plc` setting of every command that resolves a did:plc. */
export const plcSetting = list(
  'plc',
  'URL',
  ['https://plc.directory'],
  'did:plc directory; repeatable: the first is the primary, the others are used while it does not respond',
);

/** Directories of did:plc: the primary one, and the replicas that are used while the primary one does not respond. */
export interface Directories {
  readonly plc: string;
  readonly plcReplicas: readonly string[];
}

/** Parses the URLs of the setting. Throws OperatorError if a URL is invalid or no URL is configured. */
export function directoriesOf(addresses: readonly string[]): Directories {
  const [plc = '', ...plcReplicas] = addresses;
  for (const address of [plc, ...plcReplicas]) operatorUrl('plc', address, { schemes: httpSchemes });
  return { plc, plcReplicas };
}
