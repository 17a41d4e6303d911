/**
 * Loaded into a process before anything else (`node --import`): every resolver that it makes asks the server of
 * `TEST_DNS_SERVER`, whatever this machine is set up with.
 */
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

const server = process.env.TEST_DNS_SERVER ?? '';

class TestResolver extends dns.promises.Resolver {
  constructor(options?: dns.ResolverOptions) {
    super(options);
    this.setServers([server]);
  }
}

dns.promises.Resolver = TestResolver;
syncBuiltinESMExports();
