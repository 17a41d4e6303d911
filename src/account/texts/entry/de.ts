import { formatsOf } from '../../../web/language/formats.ts';
import type { EntryTexts } from './en.ts';

const { counted } = formatsOf('de');

const did = 'did:plc: gefolgt von 24 Zeichen (a–z, 2–7), oder did:web: gefolgt von einem Hostnamen';

/** German texts of the page frame, the forms, the home page and the error pages. */
export const entryDe: EntryTexts = {
  skip: 'Zum Inhalt springen',
  site: 'Website',
  languageMenu: 'Sprache',
  lookUp: 'Konto nachschlagen',
  shortened: '(gekürzt)',
  bannerLabel: 'Woher diese Angaben stammen',
  banner: {
    simulated: 'Diese Beobachtungen stammen aus einem simulierten Netzwerk. Sie sagen nichts über das echte aus.',
    sample:
      'Diese Beobachtungen stammen aus einer mitgelieferten Stichprobe. Sie sagen nichts über das Netzwerk von heute aus.',
  },
  bannerTitle: { simulated: '[simuliert]', sample: '[Stichprobe]' },

  accountOrHandle: 'Handle oder DID eines Kontos',
  accountDid: 'DID eines Kontos',
  handleHint: 'Zum Beispiel alice.bsky.social oder eine DID, die mit did:plc: oder did:web: beginnt',
  didHint: 'Sie beginnt mit did:plc: oder did:web:',
  show: 'Beobachtungen anzeigen',
  interval: 'Zeitraum',
  days: (n) => counted(n, { one: 'Tag', other: 'Tage' }),
  anotherInterval: 'Anderer Zeitraum',
  from: 'Von (UTC, einschließlich)',
  to: 'Bis (UTC, ausschließlich)',
  showInterval: 'Diesen Zeitraum anzeigen',
  intervalHint: 'Zum Beispiel 2026-11-20T08:30:00Z: Datum, T, Uhrzeit mit Sekunden, Z für UTC.',
  filter: 'Filtern',
  labeler: 'Labeler',
  anyLabeler: 'alle Labeler',
  value: 'Wert',
  whatHappened: 'Ereignis',
  anyAction: 'vergeben oder entfernt',
  subjectKind: 'Betrifft',
  anySubject: 'Konto und alle Einträge',
  filtered: 'Nur ein Teil der Beobachtungen wird angezeigt. Filter:',
  removeFilter: 'Diesen Filter entfernen',

  homeTitle: 'Almanac: an einem Konto beobachtete Labels',
  homeHeading: 'Welche Labels wurden an einem Konto beobachtet?',
  homeLead:
    'Labeler sind öffentliche Moderationsdienste im Netzwerk des AT-Protokolls. Almanac liest sie und zeichnet auf, welche Labels sie vergeben und entfernen. Schlagen Sie ein Konto nach, um die Labels zu sehen, die daran, an seinen Beiträgen und an seinen anderen Einträgen beobachtet wurden.',
  samplesHeading: 'Schlagen Sie eines dieser simulierten Konten nach',
  isHeading: 'Was Sie hier finden',
  is: [
    'Öffentliche Label-Ereignisse aus höchstens 30 Tagen, so wie jeder Labeler sie veröffentlicht hat.',
    'Zwei Zeitpunkte für jedes Ereignis: wann der Labeler das Label nach eigener Angabe erstellt und wann Almanac es empfangen hat.',
    'Jeden Labeler für sich: Vergeben zwei Labeler denselben Wert, zählt das als zwei Beobachtungen.',
    'Die Grenzen der Beobachtung: Lücken, Unterbrechungen, Labeler, die nicht gelesen werden.',
    'Alle Zeilen als Download oder Export.',
  ],
  isNotHeading: 'Was Sie hier nicht finden',
  isNot: [
    'Keine Aussage darüber, welche Labels ein Konto hat: Almanac beobachtet, wie Labels vergeben und entfernt werden, nicht, welche derzeit gelten.',
    'Keine vollständige Liste: Wurde kein Label beobachtet, kann es trotzdem eines geben.',
    'Kein Urteil: Werte und Definitionen stammen von den Labelern selbst.',
    'Kein Archiv: Zeilen werden nach 30 Tagen gelöscht, auch die von gelöschten Konten.',
    'Keine Aufzeichnung der Besucher: Nachgeschlagene Konten werden nicht protokolliert, und es wird kein Cookie gesetzt.',
  ],

  failedTitle: (code) => `Anfrage fehlgeschlagen: ${code}`,
  tryAgain: (span) => `Versuchen Sie es nach dieser Zeit erneut: ${span}.`,
  code: (code) => ['Code: ', code, '. Daraus lässt sich nichts über ein Konto schließen.'],
  refusalHeading: {
    not_found: 'Unter dieser Adresse gibt es keine Seite',
    invalid_account: 'Dieses Konto kann nicht nachgeschlagen werden',
    invalid_interval: 'Dieser Zeitraum ist ungültig',
    unsupported_interval: 'Dieser Zeitraum wird nicht unterstützt',
    out_of_window: 'Für diesen Zeitraum sind keine Daten verfügbar',
    invalid_filter: 'Dieser Filter ist ungültig',
    unknown_parameter: 'Diese Adresse ist ungültig',
    invalid_cursor: 'Diese Stelle der Liste gibt es nicht',
    export_too_large: 'Diese Anfrage ist fehlgeschlagen',
    snapshot_expired: 'Diese Anfrage ist fehlgeschlagen',
    store_busy: 'Die Beobachtungen können im Moment nicht gelesen werden',
    store_behind: 'Die Beobachtungen sind hier noch nicht angekommen',
    client_budget: 'Die Grenze für Abfragen ist erreicht',
    internal_error: 'Hier ist etwas schiefgegangen',
  },
  refusal: {
    not_found: `Geben Sie das Handle des Kontos ein, etwa alice.bsky.social, oder seine DID: ${did}.`,
    invalid_account: `Geben Sie die DID des Kontos einmal an: ${did}.`,
    invalid_interval: 'Geben Sie „Von“ und „Bis“ zusammen an, jeweils mit Tag und Uhrzeit, und „Bis“ nach „Von“.',
    unsupported_interval: 'Wählen Sie 7 Tage, 30 Tage oder einen Zeitraum von einem Zeitpunkt bis zu einem anderen.',
    out_of_window:
      'Kein Teil dieses Zeitraums ist verfügbar: Er liegt außerhalb der letzten 30 Tage oder vor dem Beginn der Beobachtung.',
    invalid_filter:
      'Ein Filter ist ungültig. Der Labeler ist eine DID, und der Wert hat höchstens 128 Bytes; jeder Filter wird einmal angegeben.',
    unknown_parameter: 'Die Adresse enthält einen Parameter, den diese Seite nicht unterstützt.',
    invalid_cursor:
      'Die Adresse setzt eine Liste an einer Stelle fort, die es dort nicht gibt. Beginnen Sie mit den neuesten Beobachtungen.',
    export_too_large: 'Der Zeitraum enthält mehr Zeilen, als diese Seite zählen kann. Wählen Sie einen kürzeren.',
    snapshot_expired:
      'Die ältesten dieser Beobachtungen sind aus dem Zeitfenster gefallen, während die Seite erstellt wurde; deshalb wird sie nicht angezeigt. Laden Sie die Seite neu.',
    store_busy: 'Es gibt zu viele Anfragen, oder die Beobachtungen sind nicht verfügbar.',
    store_behind:
      'Dieser Server erhält die Beobachtungen etwas später und hat noch nicht alle bis zum Ende dieses Zeitraums.',
    client_budget: 'Sie haben die Grenze für Abfragen aus Ihrem Netz erreicht.',
    internal_error: 'Der Dienst konnte diese Seite nicht erstellen. Versuchen Sie es später erneut.',
  },
  name: {
    invalid_handle:
      'Das ist kein Handle des öffentlichen Netzwerks. Prüfen Sie die Schreibweise, oder geben Sie die DID ein.',
    not_found:
      'Dieses Handle führt zu keinem Konto: Weder der DNS-Eintrag noch die Website unter diesem Namen nennt eine DID. Prüfen Sie die Schreibweise, oder geben Sie die DID ein.',
    unconfirmed:
      'Dieses Handle verweist auf ein Konto, das es nicht für sich angibt, und ist daher nicht bestätigt. Geben Sie die DID ein.',
    failed:
      'Dieses Handle konnte im Moment nicht aufgelöst werden. Versuchen Sie es erneut, oder geben Sie die DID ein.',
    neither: `Das ist weder ein Handle noch eine DID. Ein Handle sieht aus wie alice.bsky.social; eine DID ist ${did}.`,
    did_only: `Dieser Dienst löst keine Handles auf. Geben Sie die DID des Kontos ein: ${did}.`,
  },
};
