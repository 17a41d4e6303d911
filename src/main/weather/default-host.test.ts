import { expect, test } from 'vitest';
import { parseEndpoint } from '../../weather/window/endpoint.ts';
import { labelsSettings } from '../labels/labels-settings.ts';
import { weatherSettings } from './weather-settings.ts';

test('both instruments read the same host by default, through the present method', () => {
  const [weather = '', ...others] = [weatherSettings.jetstream.fallback ?? []].flat();
  expect(others).toEqual([]);
  expect([labelsSettings.jetstream.fallback].flat()).toEqual([weather]);
  expect(parseEndpoint(weather, { allowLoopback: false })).toMatchObject({ wire: 'jetstream.subscribeEvents' });
});
