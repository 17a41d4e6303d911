import type { WeatherMetricsEnvelope } from '../../contract/envelope.ts';
import type { CollectionName } from '../../contract/vocabulary.ts';
import { rateText } from '../../web/format.ts';
import { collectionWords } from '../hours/collection-words.ts';
import { currencyOf, isNow } from '../page/currency.ts';
import type { Shown } from '../page/model.ts';
import { innerWidth, left, Plate, refusedText, Section } from './chart-section.tsx';
import { Hatched, Line } from './image.tsx';
import { ageText, weatherCoverageText } from './texts.ts';

type Fact = Shown<WeatherMetricsEnvelope>;

/** Collections that the chart shows. They do not overlap. */
const drawn = [
  'like.create',
  'post.create',
  'repost.create',
  'follow.create',
  'block.create',
  'post.delete',
] as const satisfies readonly CollectionName[];

const nameWidth = 120;
const numberWidth = 90;
const barWidth = innerWidth - nameWidth - numberWidth;
const rowHeight = 22;

/**
 * Draws the events per second by collection and the observed part of the window, or the reason why there are no current
 * rates.
 */
export function RatesSection({ fact, y }: { fact: Fact; y: number }) {
  const title = 'Events per observed second';
  const plateHeight = drawn.length * rowHeight + 40;
  if (fact.kind !== 'served') {
    return (
      <Section title={title} y={y}>
        <Plate text={refusedText(fact)} paint="refused" y={y + 24} height={plateHeight} />
      </Section>
    );
  }
  const { envelope } = fact;
  return (
    <Section title={title} note={ageText(envelope)} y={y}>
      {isNow(currencyOf(envelope)) ? (
        <Rates envelope={envelope} y={y + 24} />
      ) : (
        <Plate text="not current" paint="none" y={y + 24} height={plateHeight} />
      )}
    </Section>
  );
}

/** Describes the rates in a sentence. */
export function ratesText(fact: Fact): string {
  if (fact.kind !== 'served') return `Events: ${refusedText(fact)}.`;
  const { envelope } = fact;
  if (!isNow(currencyOf(envelope))) return `Events: not current, ${ageText(envelope)}.`;
  const rates = drawn.map((name) => `${collectionWords[name]} ${rateOf(envelope, name)}`);
  const coverage = weatherCoverageText(envelope.facts.window);
  return `Events per observed second: ${rates.join(', ')}; ${coverage}, ${ageText(envelope)}.`;
}

function rateOf({ facts }: WeatherMetricsEnvelope, name: CollectionName): string {
  const rate = facts.collections[name]?.mean_rate_per_s ?? null;
  return rate === null ? 'not observed' : rateText(rate);
}

function Rates({ envelope, y }: { envelope: WeatherMetricsEnvelope; y: number }) {
  const { collections, window } = envelope.facts;
  const most = Math.max(0, ...drawn.map((name) => collections[name]?.mean_rate_per_s ?? 0));
  const coverageAt = y + drawn.length * rowHeight + 6;
  return (
    <>
      {drawn.map((name, index) => {
        const rate = collections[name]?.mean_rate_per_s ?? null;
        const top = y + index * rowHeight;
        return (
          <>
            <Line x={left} y={top + 13}>
              {collectionWords[name]}
            </Line>
            {rate === null ? (
              <Hatched x={left + nameWidth} y={top + 3} width={barWidth} height={12} />
            ) : (
              <Bar x={left + nameWidth} y={top + 3} width={barWidth} share={most === 0 ? 0 : rate / most} />
            )}
            <Line x={left + innerWidth} y={top + 13} anchor="end">
              {rateOf(envelope, name)}
            </Line>
          </>
        );
      })}
      <Hatched x={left} y={coverageAt} width={innerWidth} height={8} />
      <rect class="bar" x={left} y={coverageAt} width={innerWidth * share(window.coverage_ratio)} height="8" />
      <Line x={left} y={coverageAt + 24} paint="soft">
        {`${weatherCoverageText(window)}; hatched: not observed`}
      </Line>
    </>
  );
}

function Bar({ x, y, width, share: part }: { x: number; y: number; width: number; share: number }) {
  return (
    <>
      <rect class="rail" x={x} y={y} width={width} height="12" />
      <rect class="bar" x={x} y={y} width={width * share(part)} height="12" />
    </>
  );
}

function share(ratio: number | null): number {
  return ratio === null ? 0 : Math.min(1, Math.max(0, ratio));
}
