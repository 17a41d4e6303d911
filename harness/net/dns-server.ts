import { createSocket } from 'node:dgram';
import { type DnsRecord, readQuestion, responseCodes, writeAnswer } from '../../sim/dns/message.ts';

/**
 * Response to a query: records of the requested type, `none` (the name does not exist), `failure` (SERVFAIL), or
 * `silence` (no response).
 */
export type DnsAnswer = readonly DnsRecord[] | 'none' | 'failure' | 'silence';

/** A DNS server on loopback. */
export interface DnsServer {
  /** Address in the format of `Resolver.setServers`. */
  readonly address: string;
  /** Queries received so far, each as `name type`. */
  readonly asked: string[];
  stop(): Promise<void>;
}

const codes = { none: responseCodes.noSuchName, failure: responseCodes.serverFailure } as const;

/** Returns the environment variables that make a process query only this server. */
export function dnsEnvironment({ address }: DnsServer): Readonly<Record<string, string>> {
  const preload = new URL('./dns-preload.ts', import.meta.url).href;
  return { TEST_DNS_SERVER: address, NODE_OPTIONS: `--import ${preload}` };
}

/** Starts a server. `answer` determines the response to each query. */
export async function startDnsServer(answer: (name: string, type: DnsRecord['type']) => DnsAnswer): Promise<DnsServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    const question = readQuestion(message);
    if (question === null || question.type === null) return;
    const { name, type } = question;
    asked.push(`${name} ${type}`);
    const given = answer(name, type);
    if (given === 'silence') return;
    const code = typeof given === 'string' ? codes[given] : responseCodes.noError;
    socket.send(writeAnswer(question, code, typeof given === 'string' ? [] : given), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    stop: () => new Promise((resolve) => socket.close(resolve)),
  };
}
