import { renderFragment } from '../../web/document.tsx';
import { ChartFigure } from './chart-figure.tsx';
import { collectionWords } from './collection-words.ts';
import { chartFile, hoursHeadings } from './section-texts.ts';
import type { HoursCharts, WeatherCharts } from './shown-hours.ts';

/** Shows the events by hour, with their usual range. Like the section below, it is the content of a `section` element. `base` is the relative URL of the service. */
function WeatherHours({ shown, base }: { readonly shown: HoursCharts['weather']; readonly base: string }) {
  return (
    <>
      <h2 id="hours-weather">{hoursHeadings.weather}</h2>
      {shown.kind === 'refused' ? (
        <p data-undrawn="hours-weather">No chart is drawn. {shown.why} Reload this page to try again.</p>
      ) : (
        <>
          <ChartFigure chart={shown.charts.all} files={`${base}${chartFile('events')}`} />
          <Kinds charts={shown.charts} base={base} />
        </>
      )}
    </>
  );
}

/** Shows a chart of each kind on request: browsers load the images of a closed list only when it is opened. */
function Kinds({ charts: { collections }, base }: { readonly charts: WeatherCharts; readonly base: string }) {
  if (collections.length === 0) return null;
  return (
    <details class="chart-kinds">
      <summary>By kind</summary>
      <p>Each kind has its own axis. Kinds overlap: replies and quotes are posts too.</p>
      <ul>
        {collections.map((name) => {
          const file = `${base}${chartFile(name)}`;
          return (
            <li key={name}>
              <img src={`${file}.svg`} alt={`${collectionWords[name]} per second`} loading="lazy" />
              <a href={`${file}.csv`}>CSV</a>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** Shows the applications and removals of labels by hour. */
function LabelHours({ shown, base }: { readonly shown: HoursCharts['labels']; readonly base: string }) {
  return (
    <>
      <h2 id="hours-labels">{hoursHeadings.labels}</h2>
      {shown.kind === 'refused' ? (
        <p data-undrawn="hours-labels">No chart is drawn. {shown.why} Reload this page to try again.</p>
      ) : (
        <ChartFigure chart={shown.charts} files={`${base}${chartFile('labels')}`} />
      )}
    </>
  );
}

/**
 * Returns the content of the section about the events of the last 72 hours as HTML. `base` is the relative URL of the
 * service.
 */
export function weatherHoursHtml(shown: HoursCharts['weather'], base: string): string {
  return renderFragment(<WeatherHours shown={shown} base={base} />);
}

/** Returns the content of the section about the labels of the last 72 hours as HTML. */
export function labelHoursHtml(shown: HoursCharts['labels'], base: string): string {
  return renderFragment(<LabelHours shown={shown} base={base} />);
}
