import { expect, test } from 'vitest';
import { parseEndpoint } from '../../weather/window/endpoint.ts';
import { labelsSettings } from '../labels/labels-settings.ts';
import { weatherSettings } from './weather-settings.ts';

test('by default, both instruments read the same host with the method subscribeEvents', () => {
  const [weather = '', ...others] = [weatherSettings.jetstream.fallback ?? []].flat();
  expect(others).toEqual([]);
  expect([labelsSettings.jetstream.fallback].flat()).toEqual([weather]);
  expect(parseEndpoint(weather, { allowLoopback: false })).toMatchObject({ wire: 'jetstream.subscribeEvents' });
});
