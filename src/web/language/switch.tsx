import { type Language, languageNames, languageParameter, languages } from './language.ts';

/** Maximum length of a query that the links keep, in characters. No valid query of a page is longer. */
const maxSearchLength = 2_048;

/**
 * Shows the name of the current language, and links to the same page in every other language. Each link keeps the query
 * (`search`, without its question mark) unless the query is too long. The links work without scripts.
 */
export function LanguageSwitch({ label, current, search }: { label: string; current: Language; search: string }) {
  const kept = search.length > maxSearchLength ? '' : withoutLanguage(search);
  return (
    <nav class="languages" aria-label={label}>
      {languages.map((language) =>
        language === current ? (
          <strong key={language}>{languageNames[language]}</strong>
        ) : (
          <a key={language} href={`?${kept}${languageParameter}=${language}`} lang={language}>
            {languageNames[language]}
          </a>
        ),
      )}
    </nav>
  );
}

/** Removes the language parameter from a query. The result is empty or ends with an ampersand. */
function withoutLanguage(search: string): string {
  return search
    .split('&')
    .filter((pair) => pair !== '' && pair.split('=', 1)[0] !== languageParameter)
    .map((pair) => `${pair}&`)
    .join('');
}
