import type { Dice } from '../random.ts';

/** Ordinary phrases for posts, in several scripts. */
const phrases = [
  'the train is late again and no one is surprised',
  'finally finished the second row of the blanket',
  'good morning from the rainy side of the hill',
  'that goal in the last minute!!',
  'does anyone know a bakery that opens before six?',
  'new drawing, more of these next week',
  'reading about tides, they are stranger than I thought',
  'heute Abend Suppe, draußen fünf Grad und Nebel',
  'ça y est, le marché est ouvert jusqu’à midi',
  'que dia lindo para caminhar na praia',
  'el gato duerme encima del teclado otra vez',
  '今日は朝から雨だったけど夕方には虹が見えた',
  '散歩の途中で見つけた小さな花屋さん、また行きたい',
  '오늘도 커피 두 잔으로 버티는 중',
  'Сегодня первый снег, дети в восторге',
  'صباح الخير يا أصدقاء',
  'यह गाना बार बार सुन रहा हूँ',
  '🌧️☕📚',
  'gm ✨ 👩‍👩‍👧‍👦 weekend plans?',
  'thread below, it is a long one',
] as const;

/** Texts that break an incorrect frame parser. */
const traps = [
  '"kind":"commit","time_us":1,"operation":"delete"',
  '{"kind":"identity","identity":{}}',
  'the key is "collection":"app.bsky.feed.like" they said',
  'C:\\temp\\"quoted"\\ and a tab\there\nnew line\r\nand <b>&amp;</b>',
  'line\u2028separator \u0000 nul \u001f unit',
  '}}},{"commit":{"operation":"create"}',
  'lone brace { and bracket [ and quote " and backslash \\',
  '\ud83d\ude00 pairs and \\ud83d written out',
] as const;

/** Returns the text of a post: one to seven phrases, sometimes with a trap. */
export function postText(chance: Dice): string {
  const parts: string[] = Array.from({ length: 1 + chance.below(7) }, () => chance.pick(phrases));
  if (chance.chance(0.06)) parts.push(chance.pick(traps));
  return parts.join(chance.chance(0.5) ? ' ' : '\n').slice(0, 300);
}

/** Returns a short text for a title, a name or an alternative text. */
export function shortText(chance: Dice): string {
  return chance.pick(phrases);
}

/** Returns a made-up handle. */
export function handle(chance: Dice): string {
  return `${chance.text('abcdefghijklmnopqrstuvwxyz', 5 + chance.below(8))}.${chance.pick(['bsky.social', 'example.com', 'test'])}`;
}

/** Formats JSON as production does, with markup characters and line separators escaped. */
export function productionJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
