import { render } from 'preact';
import { ServiceClock } from '../../client/staleness.ts';
import { contractIds, paths } from '../../contract/identifiers.ts';
import { originTitles } from '../../web/format.ts';
import { PageBody } from '../../web/page-body.tsx';
import { hoursHeadings } from '../hours/hours-chart.ts';
import { describeChanges } from './changes.ts';
import { Kept, KeptArchive, KeptHours, keptSection } from './kept-section.tsx';
import type { ObservatoryFacts } from './model.ts';
import { type OtherSections, observatory } from './observatory.tsx';
import { addReaders } from './read-values.ts';
import { type WatchContext, watchFact } from './watch.ts';

/**
 * Updates the page in the browser. Requests the three facts as soon as the last response for one of them has expired,
 * and renders the page again with the server's components. The server-rendered page stays until the first responses
 * arrive. If the page cannot be rendered, a message replaces it and the updates end.
 */
function keepLive(context: WatchContext): void {
  const watches = {
    conditions: watchFact(`.${paths.weatherConditions}`, contractIds.weatherConditions, context),
    metrics: watchFact(`.${paths.weatherMetrics}`, contractIds.weatherMetrics, context),
    labels: watchFact(`.${paths.labelsOverview}`, contractIds.labelsOverview, context),
  };
  const due = (): number => Math.min(...Object.values(watches).map((watch) => watch.dueAt()));
  const others = keptSections();
  let shown: ObservatoryFacts | null = null;
  let asking = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function ask(): Promise<void> {
    if (asking) return;
    asking = true;
    clearTimeout(timer);
    const [conditions, metrics, labels] = await Promise.all([
      watches.conditions.ask(),
      watches.metrics.ask(),
      watches.labels.ask(),
    ]);
    const facts = { conditions, metrics, labels };
    try {
      const parts = observatory(facts, { kind: 'live', said: describeChanges(shown, facts) }, others);
      shown = facts;
      document.title = parts.title;
      render(<PageBody {...parts} />, document.body);
      addReaders(document);
    } catch {
      // If the page cannot be rendered, remove all old numbers and stop the script.
      document.body.textContent = 'The facts have a format that this page does not support. Reload the page.';
      return;
    }
    asking = false;
    timer = setTimeout(() => void ask(), Math.max(0, due() - context.clock()));
  }

  /**
   * Requests the facts again if their responses expired while the computer slept or the page was in the browser
   * history.
   */
  function awake(): void {
    if (document.visibilityState === 'visible' && context.clock() >= due()) void ask();
  }

  document.addEventListener('visibilitychange', awake);
  window.addEventListener('pageshow', awake);
  window.addEventListener('online', () => void ask());
  void ask();
}

/** Returns the sections without facts, which stay as the server rendered them. */
function keptSections(): OtherSections {
  const archive = keptSection(document, 'archive');
  const [weatherHours, labelHours] = [keptSection(document, 'hours-weather'), keptSection(document, 'hours-labels')];
  return {
    weatherHours: (refusal) => (
      <KeptHours section={weatherHours} heading={hoursHeadings.weather} isRefused={refusal !== null} />
    ),
    labelHours: (refusal) => (
      <KeptHours section={labelHours} heading={hoursHeadings.labels} isRefused={refusal !== null} />
    ),
    archive: archive && ((refusal) => <KeptArchive section={archive} refusal={refusal} />),
    accounts: <Kept section={keptSection(document, 'accounts')} />,
  };
}

const marked = (['simulated', 'sample'] as const).find((origin) => document.title.includes(originTitles[origin]));
keepLive({ fetch: (url, init) => fetch(url, init), clock: Date.now, service: new ServiceClock(), origin: marked });
