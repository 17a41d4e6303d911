import { type Language, languageNames, languageParameter, languages } from './language.ts';

/** Maximum length in characters of a query that the links keep; no valid query of a page is longer. */
const maxSearchLength = 2_048;

/**
 * Shows links to the same page in every other language. Each link keeps the query (`search`, without its question mark)
 * and needs no script.
 */
export function LanguageSwitch({ label, current, search }: { label: string; current: Language; search: string }) {
  const kept = search.length > maxSearchLength ? '' : withoutLanguage(search);
  return (
    <nav class="languages" aria-label={label}>
      {languages.map((language) =>
        language === current ? (
          <strong key={language}>{languageNames[language]}</strong>
        ) : (
          <a key={language} href={`?${kept}${languageParameter}=${language}`} lang={language} hreflang={language}>
            {languageNames[language]}
          </a>
        ),
      )}
    </nav>
  );
}

/** Returns a query without its language. The result is empty or ends with an ampersand. */
function withoutLanguage(search: string): string {
  return search
    .split('&')
    .filter((pair) => pair !== '' && pair.split('=', 1)[0] !== languageParameter)
    .map((pair) => `${pair}&`)
    .join('');
}
