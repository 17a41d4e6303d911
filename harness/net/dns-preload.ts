/**
 * Module for `node --import`. It makes every resolver of the process query the server in `TEST_DNS_SERVER`, regardless
 * of the machine's configuration.
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
