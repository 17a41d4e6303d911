import { killAtExit } from '../../harness/process/at-exit.ts';
import { startProgram } from '../../harness/process/program.ts';

/** Interval between two requests of each view, in milliseconds. */
const everyMs = 250;
/** Number of requests that each client sends. The account view lets a client look up 500 accounts a day. */
const requestsPerClient = 100;

/** Durations and outcomes of the requests of one view. */
export interface ViewFigures {
  readonly name: string;
  readonly requests: number;
  /** 50th percentile of the durations of the responses with status 200, in milliseconds. */
  readonly p50: number;
  /** 99th percentile of these durations. */
  readonly p99: number;
  /** Number of requests by the status of the response, or `no response`. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Times and bodies of the first response of each run of equal statuses: when a view failed, and what it said. */
  readonly changes: readonly string[];
}

/** Programs that read what an instrument writes, while requests are sent to them. */
export interface Views {
  /** Stops the requests and the programs. */
  stop(): Promise<readonly ViewFigures[]>;
}

/** Instrument whose store and artifacts the views read. */
interface ViewedInstrument {
  readonly store: string;
  readonly artifacts: string;
  readonly data: string;
  /** Returns the DID of an account that has labels. */
  readonly account: () => string;
}

/** Starts the account view and the facts over one instrument, and requests an account page and the overview steadily. */
export async function startViews({ store, artifacts, data, account }: ViewedInstrument): Promise<Views> {
  const programs = [
    startProgram(['account', '--port', '0', '--store', store, '--data', data, '--no-handles', '--trust-proxy', '1']),
    startProgram(['facts', '--port', '0', '--artifacts', artifacts, '--trust-proxy', '1']),
  ];
  for (const { child } of programs) killAtExit(child);
  const [accounts, facts] = await Promise.all(programs.map((program) => program.listening()));
  const stopping = new AbortController();
  const views = [
    new View('account page', () => `${accounts?.url}/account?days=7&did=${encodeURIComponent(account())}`),
    new View('overview', () => `${facts?.url}/v1/labels/overview`),
  ];
  const running = views.map((view) => view.run(stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
      await Promise.all(programs.map((program) => program.stop()));
      return views.map((view) => view.figures());
    },
  };
}

class View {
  readonly #name: string;
  readonly #address: () => string;
  readonly #took: number[] = [];
  readonly #statuses: Record<string, number> = {};
  readonly #changes: string[] = [];
  #last = '';

  constructor(name: string, address: () => string) {
    this.#name = name;
    this.#address = address;
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let n = 0; !signal.aborted; n++) {
      const client = Math.floor(n / requestsPerClient);
      const headers = { 'X-Forwarded-For': `198.18.${(client >> 8) & 255}.${client & 255}` };
      const begun = performance.now();
      // A view that ends must not end the run, whose purpose is the instrument.
      const answer = await get(this.#address(), headers).catch(() => ({ status: 'no response', said: '' }));
      const status = String(answer.status);
      if (status === '200') this.#took.push(performance.now() - begun);
      if (status !== this.#last) this.#changes.push(`${new Date().toISOString()} ${status} ${answer.said}`.trimEnd());
      this.#last = status;
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  figures(): ViewFigures {
    const sorted = this.#took.toSorted((a, b) => a - b);
    const at = (part: number): number => Math.round(sorted[Math.floor(sorted.length * part)] ?? Number.NaN);
    const requests = Object.values(this.#statuses).reduce((sum, count) => sum + count, 0);
    return {
      name: this.#name,
      requests,
      p50: at(0.5),
      p99: at(0.99),
      statuses: this.#statuses,
      changes: this.#changes,
    };
  }
}

/** Requests an address. Resolves once the body has arrived; `said` is the start of the body of an error. */
async function get(address: string, headers: Readonly<Record<string, string>>) {
  const response = await fetch(address, { headers });
  const body = await response.text();
  return { status: response.status, said: response.ok ? '' : body.slice(0, 300) };
}
