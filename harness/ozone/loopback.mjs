/**
 * Makes every server of this process listen on loopback only: the packages of the real network choose no address, and
 * would listen on all of them. Must be imported before them.
 */
import { Server } from 'node:net';

const { listen } = Server.prototype;
Server.prototype.listen = function listenOnLoopback(...args) {
  const [first, second] = args;
  if (typeof first === 'number' && typeof second !== 'string') args.splice(1, 0, '127.0.0.1');
  else if (first !== null && typeof first === 'object' && 'port' in first) args[0] = { host: '127.0.0.1', ...first };
  return listen.apply(this, args);
};
