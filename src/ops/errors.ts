import { mkdirSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, resolve } from 'node:path';
import { getSystemErrorMap } from 'node:util';

/** An error that an operator can correct: printed as one line, without a stack trace; the process exits with 1. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}

/** Returns the system's code of an error, such as `EADDRINUSE`, or null if the error has no code. */
export function systemCode(error: unknown): string | null {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return null;
  const isUnnamed = error.code === 'UNKNOWN' || error.code.startsWith('Unknown system error');
  return (isUnnamed && 'errno' in error ? nameOfNumber(error.errno) : undefined) ?? error.code;
}

/** Returns the name of an error number that Node cannot name, such as `EDQUOT`; undefined for any other error. */
function nameOfNumber(number: unknown): string | undefined {
  return Object.entries(constants.errno).find(([, value]) => value === -Number(number))?.[0];
}

/** Descriptions of codes that operators encounter and whose system text is missing or unclear. */
const meanings: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EAI_AGAIN: 'the resolver does not respond',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EDQUOT: 'the quota is used up',
  EEXIST: 'a file with that name already exists',
  EFBIG: 'the file would exceed the size limit of the file system or user',
  EHOSTUNREACH: 'no route to that host',
  EIO: 'the disk reported an error',
  EISDIR: 'the path is a directory',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENETUNREACH: 'no route to that network',
  ENOENT: 'no such file or directory',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'part of the path is not a directory',
  ENOTFOUND: 'no such host name',
  EPERM: 'not permitted',
  EREFUSED: 'the DNS server refuses the query',
  EROFS: 'the file system is read-only',
  ESERVFAIL: 'the DNS server failed to answer',
  ETIMEDOUT: 'no response in time',
  ETIMEOUT: 'no DNS response in time',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is signed by an unknown authority',
  UND_ERR_CONNECT_TIMEOUT: 'the connection was not established in time',
  UND_ERR_SOCKET: 'the connection was reset',
};

/** Returns advice for a system error caused by a missing permission, or null for any other error. */
export function permissionAdvice(error: unknown): string | null {
  const isDenied = ['EACCES', 'EPERM'].includes(systemCode(error) ?? '');
  return isDenied ? 'check its owner and mode, and the user of this process' : null;
}

/**
 * Describes a system error code, such as `permission denied (EACCES)`. Returns a code without a description unchanged.
 */
export function describeCode(code: string): string {
  const words = Object.hasOwn(meanings, code) ? meanings[code] : systemDescription(code);
  return words === undefined ? code : `${words} (${code})`;
}

/** Describes a system error as `describeCode` does. Returns `unknown error` if the error has no code. */
export function systemWords(error: unknown): string {
  const code = systemCode(error);
  return code === null ? 'unknown error' : describeCode(code);
}

function systemDescription(code: string): string | undefined {
  return [...getSystemErrorMap().values()].find(([name]) => name === code)?.[1];
}

/**
 * Creates a directory and its missing parents; an existing directory stays unchanged. Throws OperatorError with a
 * one-line message on failure. Calls `mkdir` for each level, because Node's `recursive` option loops forever on file
 * systems such as `/proc`, where `mkdir` fails with ENOENT although the parent exists.
 */
export function makeFolder(path: string): void {
  const refused = (why: string): OperatorError => new OperatorError(`cannot create the directory ${path}: ${why}`);
  const missing: string[] = [];
  try {
    for (let at = resolve(path); ; at = dirname(at)) {
      const found = kindOf(at);
      if (found === 'other') throw refused(`${at} is not a directory`);
      if (found === 'folder') break;
      if (dirname(at) === at) throw refused(`${at} does not exist`);
      missing.unshift(at);
    }
    for (const folder of missing) makeOne(folder);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw refused(
      systemCode(error) === 'ENOENT' ? 'the file system does not allow new directories there' : systemWords(error),
    );
  }
}

function kindOf(path: string): 'folder' | 'other' | 'nothing' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    // ENOTDIR means that a parent is not a directory; the caller checks the parent next.
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return 'nothing';
    throw error;
  }
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // Ignore the error if another process of this program created the directory first.
    if (systemCode(error) !== 'EEXIST' || kindOf(folder) !== 'folder') throw error;
  }
}
