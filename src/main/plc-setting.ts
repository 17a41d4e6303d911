import { OperatorError } from '../ops/errors.ts';
import { list } from '../ops/setting.ts';

/** The setting of every command that resolves a did:plc. */
export const plcSetting = list(
  'plc',
  'URL',
  ['https://plc.directory'],
  'did:plc directory; repeatable: the first is the primary, the others answer when it does not',
);

/** Directories of did:plc: the primary one, and replicas that answer when it does not. */
export interface Directories {
  readonly plc: string;
  readonly plcReplicas: readonly string[];
}

/** Divides the setting's addresses. Throws OperatorError where one is no http address, or none is given. */
export function directoriesOf(addresses: readonly string[]): Directories {
  const [plc = '', ...plcReplicas] = addresses;
  for (const address of [plc, ...plcReplicas]) {
    const protocol = URL.parse(address)?.protocol;
    if (protocol === 'https:' || protocol === 'http:') continue;
    throw new OperatorError(`--plc requires a URL that begins with https://; got ${JSON.stringify(address)}`);
  }
  return { plc, plcReplicas };
}
