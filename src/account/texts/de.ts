import { formatsOf } from '../../web/language.ts';
import type { Texts } from './en.ts';

const formats = formatsOf('de');
const { count, counted, plural } = formats;
const labelers = { one: 'Labeler', other: 'Labeler' };
const rows = { one: 'Zeile', other: 'Zeilen' };
const was = { one: 'wurde', other: 'wurden' };
const is = { one: 'wird', other: 'werden' };
const did = 'did:plc: gefolgt von 24 Zeichen (a–z, 2–7), oder did:web: gefolgt von einem Hostnamen';

/** German texts of the account pages. */
export const de: Texts = {
  language: 'de',
  formats,
  translationNote:
    'Maschinell übersetzt und noch nicht von Muttersprachlern geprüft; im Zweifel gilt die englische Seite. Texte der Labeler werden nicht übersetzt.',

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
    'Kein Archiv: Zeilen, auch die von gelöschten Konten, werden 30 Tage lang angezeigt und innerhalb von 33 Tagen gelöscht, solange der Dienst läuft.',
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
    redirects:
      'Die Website dieses Handles leitet an eine andere Adresse weiter, die dieser Dienst nicht abruft. Geben Sie die DID ein.',
    failed:
      'Dieses Handle konnte im Moment nicht aufgelöst werden. Versuchen Sie es erneut, oder geben Sie die DID ein.',
    neither: `Das ist weder ein Handle noch eine DID. Ein Handle sieht aus wie alice.bsky.social; eine DID ist ${did}.`,
    did_only: `Dieser Dienst löst keine Handles auf. Geben Sie die DID des Kontos ein: ${did}.`,
  },

  title: (did) => `Labels an ${did}`,
  heading: 'Labels, beobachtet an',
  lead: (from, to) => [
    'Diese Seite zeigt, welche Labels vom ',
    from,
    ' bis zum ',
    to,
    ' vergeben oder entfernt wurden, soweit Almanac das beobachten konnte. Welche Labels derzeit gelten, ist hier nicht zu erkennen.',
  ],
  clipped: (from, to) => [
    'Für diesen Zeitraum liegen nur teilweise Daten vor. Diese Seite beginnt am ',
    from,
    ' und endet am ',
    to,
    '.',
  ],
  before: (at) => ['Beobachtungen vor diesem Zeitpunkt: ', at, '. Diese Seite ist ein Teil der Liste.'],
  none: 'Keine Beobachtungen in diesem Zeitraum.',
  noneMatching: 'Keine Beobachtungen in diesem Zeitraum passen zu den Filtern.',
  noneMatchingBefore: 'Keine Beobachtungen vor dieser Stelle passen zu den Filtern.',
  noneExplained:
    'Das heißt nicht, dass es keine Labels gibt: Diese Seite zeigt nur Labels, die in diesem Zeitraum von Labelern vergeben oder entfernt wurden, die Almanac liest, und nur aus der Zeit, in der Almanac sie gelesen hat. Die nicht beobachtete Zeit steht weiter unten. Ob es das Konto gibt, prüft Almanac nicht.',
  events: ({ applied, removed }, uncounted) => {
    const sum = `${counted(applied, { one: 'Label', other: 'Labels' })} vergeben, ${count(removed)} entfernt`;
    return uncounted === 0
      ? sum
      : `Mindestens ${sum} (${counted(uncounted, { one: 'Tag', other: 'Tage' })} nicht gezählt)`;
  },
  observed: (events) => ['Beobachtet: ', events, '. '],
  matching: (events) => ['Mit diesen Filtern: ', events, '. '],
  eventsExplained:
    'Das sind Ereignisse: Ein vergebenes Label kann unbeobachtet entfernt worden oder abgelaufen sein. Es kann Labels geben, die hier nicht erscheinen.',
  answer: {
    heading: 'Nach Labeler und Wert',
    skip: 'Tabelle überspringen',
    caption: (events) =>
      `${events}, nach Labeler und Wert. Balken vergleichen die Labeler. Jeder Wert führt zu seinen Beobachtungen.`,
    columns: { name: 'Labeler und Wert', span: 'Erste und letzte' },
    allValues: 'Alle Werte',
    onlyLabeler: 'Nur diesen Labeler anzeigen',
    moreValues: (n) =>
      `${counted(n, { one: 'weiterer Wert', other: 'weitere Werte' })} mit weniger Beobachtungen ${plural(n, { one: 'ist', other: 'sind' })} hier nicht aufgeführt.`,
    missed: (missing) => `In diesem Zeitraum nicht beobachtet: ${missing}.`,
    noneMissed: 'In diesem Zeitraum ist für diesen Labeler keine unbeobachtete Zeit verzeichnet.',
    daysOnly: 'Nur der UTC-Tag ist angegeben, wo diese Seite nicht alle Beobachtungen aufführt.',
  },
  ofSubject: (n) => `${counted(n, { one: 'Beobachtung', other: 'Beobachtungen' })} in dieser Liste`,
  earlierOfSubject: (n) =>
    `${counted(n, { one: 'frühere Beobachtung', other: 'frühere Beobachtungen' })} dazu in dieser Liste`,
  target: { account: 'Am Konto selbst', post: 'An Beiträgen', record: 'An anderen Einträgen' },
  notObserved: 'nicht beobachtet',
  notAllCounted: 'nicht alle gezählt',
  intervalNotObserved: 'Dieser Zeitraum wurde nicht beobachtet.',
  noneOfPart: 'In diesem Zeitraum wurden keine Ereignisse beobachtet.',
  noneOfPartBefore: 'In diesem Zeitraum wurden vor dieser Stelle keine Ereignisse beobachtet.',
  noneOfPartYet: 'Bisher nichts gefunden; ältere Beobachtungen wurden noch nicht gelesen.',
  more: ({ shown, newest, total }) => {
    const of = total === null ? '' : ` von ${counted(total, { one: 'Beobachtung', other: 'Beobachtungen' })}`;
    const part = shown === 0 ? 'keine' : `die ${newest ? 'neuesten' : 'nächsten'} ${count(shown)}`;
    return `Angezeigt: ${part}${of}; diese Liste ist unvollständig.`;
  },
  older: 'Ältere Beobachtungen',
  olderOf: { account: 'am Konto selbst', post: 'an Beiträgen', record: 'an anderen Einträgen' },
  or: 'oder',
  onlyThese: 'nur diese anzeigen, neueste zuerst',

  action: { application_observed: 'Vergeben', removal_observed: 'Entfernt' },
  by: (labeler) => ['vom Labeler ', labeler],
  claimed: '(angegeben, nicht bestätigt)',
  noDefinition: 'Es wurde keine Definition dieses Wertes durch den Labeler beobachtet.',
  globalMeaning: (meaning) =>
    `Allgemeine Bedeutung, da keine Definition durch den Labeler beobachtet wurde: ${meaning}`,
  emptyValue: 'ein leerer Wert',
  accountItself: 'Das Konto selbst',
  collection: 'Sammlung',
  version: 'Version',
  observedAt: 'Beobachtet (Uhr von Almanac)',
  authored: 'Erstellt (nach Angabe des Labelers)',
  expires: 'Läuft ab (nach Angabe des Labelers)',
  signature: 'Signatur',
  verdict: {
    verified: 'Gültig: mit dem Schlüssel des Labelers signiert',
    verified_earlier_key: 'Gültig: mit einem früheren Schlüssel des Labelers signiert',
    invalid: 'Ungültig: passt zu keinem bekannten Schlüssel des Labelers',
    unsigned: 'Nicht signiert',
    unverified: 'Nicht prüfbar: kein Schlüssel gefunden oder nur einer, der veraltet sein kann',
  },
  profileLink: 'Profil auf bsky.app (verlässt Almanac)',
  queryLink: 'Seine eigene Auskunft jetzt (verlässt Almanac und zeigt dem Labeler, nach welchem Konto Sie fragen)',
  disagree: 'Wenn Sie mit einem Label nicht einverstanden sind',
  appealsSimulated:
    'Dieses Konto ist simuliert; dagegen lässt sich kein Einspruch erheben. Für ein Konto des echten Netzwerks gilt:',
  appeals:
    'Almanac kann ein Label weder ändern noch entfernen. Melden Sie sich in der Bluesky-App an und öffnen Sie Ihr eigenes Profil oder Ihren Beitrag: Liegen darauf Labels von Labelern, die die App für Sie verwendet, dann nennt dort eine Schaltfläche ihre Anzahl. Sie öffnet eine Liste, in der Sie gegen jedes Label Einspruch erheben können. Der Einspruch geht an den Labeler, der das Label vergeben hat, und nur dieser entscheidet darüber. Werte, die mit „!“ beginnen, stehen nicht in der Liste; wenden Sie sich dafür direkt an den Labeler.',

  coverage: 'Was nicht beobachtet wurde',
  removedBefore: (at, missing) =>
    `Beobachtungen vor dem ${at} wurden entfernt: Der Anfang des Zeitraums fehlt (${missing}).`,
  beganOn: (at, missing) =>
    `Die Beobachtung begann am ${at}: Davor wurde in diesem Zeitraum nichts beobachtet (${missing}).`,
  nothingYet: 'Noch kein Labeler hat Daten gesendet: Bisher wurde nichts beobachtet.',
  silentSince: (at) => `Seit dem ${at} hat kein Labeler etwas gesendet: Spätere Ereignisse sind unbekannt.`,
  lastPage: (at) => `Die letzten Daten eines Labelers trafen am ${at} ein.`,
  noInterruption: 'In diesem Zeitraum ist keine Unterbrechung von Almanac verzeichnet.',
  interrupted: (times, missing) =>
    `Almanac war in diesem Zeitraum ${times === 1 ? 'einmal' : `${count(times)}-mal`} unterbrochen (insgesamt ${missing}): Währenddessen wurde nichts beobachtet.`,
  read: (read, all, past) => {
    const when = past ? ', als Almanac zuletzt etwas empfing,' : '';
    return `${count(read)} von ${count(all)} Labelern, denen Almanac folgt, ${plural(read, past ? was : is)}${when} fortlaufend gelesen.`;
  },
  others: (states) => `Von den anderen können hier Labels fehlen: ${states}.`,
  stateCount: (n, state) => `${count(n)} ${state}`,
  notEnrolled: (n, past) =>
    `${counted(n, { one: 'bekannter Labeler', other: 'bekannte Labeler' })} ${plural(n, past ? was : is)} gar nicht gelesen.`,
  missed: (n, longest, others) => {
    const length = n === 1 ? `insgesamt ${longest}` : `jeder insgesamt bis zu ${longest}`;
    const listed = others
      ? plural(n, { one: ', der unten nicht aufgeführt ist,', other: ', die unten nicht aufgeführt sind,' })
      : '';
    return `${counted(n, labelers)}${listed} ${plural(n, was)} in diesem Zeitraum ganz oder teilweise nicht beobachtet (${length}): Welche Labels ${plural(n, { one: 'er', other: 'sie' })} dann vergeben oder entfernt ${plural(n, { one: 'hat', other: 'haben' })}, ist unbekannt. Der Export führt ${plural(n, { one: 'ihn', other: 'sie' })} auf.`;
  },
  betweenReads:
    'Labels, die ein Labeler zwischen zwei Abfragen vergibt und wieder entfernt oder die er nicht veröffentlicht, werden nicht beobachtet.',
  purged: (n, day) =>
    `Zeilen von ${n === 1 ? 'einem Labeler' : `${count(n)} Labelern`} wurden auf Verlangen des Betreibers entfernt, zuletzt am ${day}.`,
  purging: (n, day) =>
    `Zeilen von ${n === 1 ? 'einem Labeler' : `${count(n)} Labelern`} werden seit dem ${day} auf Verlangen des Betreibers entfernt.`,
  spaces: (n, day) => {
    const what = plural(n, { one: 'Label an einem Eintrag', other: 'Labels an Einträgen' });
    const when = day === null ? 'Bisher entfernt (noch unvollständig)' : `Bis zum ${day} entfernt`;
    return `${when}: ${count(n)} ${what} in Spaces, die nicht öffentlich sind. Eine frühere Version hat sie gespeichert.`;
  },
  interruptions: 'Unterbrechungen von Almanac',
  labelers: 'Labeler dieser Beobachtungen',
  labelerAsked: 'Der Labeler, nach dem Sie gefragt haben',
  moreLabelers: (n) =>
    `${counted(n, { one: 'weiterer Labeler', other: 'weitere Labeler' })} mit weniger Beobachtungen ${plural(n, { one: 'ist', other: 'sind' })} hier nicht aufgeführt.`,
  unread: {
    never_read: 'Dieser Labeler wurde noch nie gelesen: Welche Labels er vergeben oder entfernt hat, ist unbekannt.',
    not_known: 'Dieser Labeler ist unbekannt: Welche Labels er vergeben oder entfernt hat, ist unbekannt.',
  },
  sums: ({ applied, removed }, uncounted) =>
    `${uncounted > 0 ? 'Mindestens ' : ''}${count(applied)} vergeben, ${count(removed)} entfernt in diesem Zeitraum, unabhängig von den Filtern.`,
  notReadNow: 'Wird zurzeit nicht gelesen.',
  state: (state) => `Zustand: ${state}.`,
  statePast: (state) => `Zustand, als Almanac zuletzt etwas empfing: ${state}.`,
  states: {
    established: {
      now: {
        one: 'wird fortlaufend gelesen',
        other: 'werden fortlaufend gelesen',
      },
      past: {
        one: 'wurde fortlaufend gelesen',
        other: 'wurden fortlaufend gelesen',
      },
    },
    unstarted: { now: { other: 'noch nicht abgefragt' }, past: { other: 'noch nicht abgefragt' } },
    probing: {
      now: { one: 'wird gerade versucht', other: 'werden gerade versucht' },
      past: { one: 'wurde gerade versucht', other: 'wurden gerade versucht' },
    },
    refused: {
      now: { one: 'verweigert das Lesen', other: 'verweigern das Lesen' },
      past: { one: 'verweigerte das Lesen', other: 'verweigerten das Lesen' },
    },
    cursor_order_unverified: {
      now: { other: 'in ungeprüfter Reihenfolge gelesen' },
      past: { other: 'in ungeprüfter Reihenfolge gelesen' },
    },
    undated_only: {
      now: { one: 'liefert nur Labels ohne Datum', other: 'liefern nur Labels ohne Datum' },
      past: { one: 'lieferte nur Labels ohne Datum', other: 'lieferten nur Labels ohne Datum' },
    },
    provider_rejects: { now: { other: 'vom Anbieter abgewiesen' }, past: { other: 'vom Anbieter abgewiesen' } },
    unavailable: {
      now: { one: 'antwortet nicht', other: 'antworten nicht' },
      past: { one: 'antwortete nicht', other: 'antworteten nicht' },
    },
    unknown: { now: { other: 'in unbekanntem Zustand' }, past: { other: 'in unbekanntem Zustand' } },
  },
  lastReadUnknown: 'Wann er zuletzt geantwortet hat, ist unbekannt.',
  lastRead: (at) => ['Zuletzt erfolgreich gelesen am ', at, '.'],
  noOwnGap: 'Für diesen Labeler ist in diesem Zeitraum keine eigene Lücke verzeichnet. Das schließt Lücken nicht aus.',
  ownGaps: (n, missing) => `${counted(n, { one: 'eigene Lücke', other: 'eigene Lücken' })}, insgesamt ${missing}.`,
  itsGaps: 'Seine Lücken',
  gap: (from, to, missing, reason) => [from, ' bis ', to, ` (${missing}): ${reason}`],
  earlierGaps: (n) => `und ${counted(n, { one: 'frühere Lücke', other: 'frühere Lücken' })}`,
  reason: {
    not_observed: 'nicht beobachtet',
    source_unavailable: 'der Labeler war nicht erreichbar oder wurde nicht gelesen',
    ingest_paused: 'Unterbrechung von Almanac',
    cursor_reset: 'die Position von Almanac im Strom des Labelers ging verloren',
    maintenance: 'Wartung von Almanac, oder sein Betreiber hat die Beobachtungen entfernt',
    warmup: 'vor Beginn der Beobachtung',
    unknown: 'Grund unbekannt',
  },

  byDay: 'Nach Tagen',
  chartTop: (highest) => `Beobachtungen pro Tag; der höchste Balken entspricht ${highest}`,
  chartSummary: (summary) => `Balken für jeden Tag. ${summary} Die Tabelle darunter enthält dieselben Daten in Zahlen.`,
  legend: {
    up: 'vergeben, über der Linie',
    down: 'entfernt, darunter',
    unseen: 'nicht beobachtet',
    part: 'nicht alle beobachtet',
    uncounted: 'nicht gezählt',
  },
  asTable: 'Dieselben Daten als Tabelle',
  captionUnseen: 'Nicht beobachtet, nach Tagen (UTC)',
  caption: (events) => `${events}, nach Tagen (UTC)`,
  columns: { day: 'Tag', applied: 'Vergeben', removed: 'Entfernt', unseen: 'Nicht beobachtet' },
  notCounted: 'nicht gezählt',
  partOfDay: (from, until) => `,${from === null ? '' : ` ab ${from} Uhr`}${until === null ? '' : ` bis ${until} Uhr`}`,
  allOfIt: 'ganz',
  someLabelers: (missing) => `einige Labeler: ${missing}`,
  dayCounts: (applied, removed) => `${count(applied)} vergeben, ${count(removed)} entfernt`,
  dayMissed: (counts, missing) => `${counts}; nicht beobachtet: ${missing}`,
  nothingObserved: (from, to) =>
    `Vom ${from} bis zum ${to} wurde nichts beobachtet; was in dieser Zeit geschah, ist unbekannt.`,
  noObservation: (from, to) => `Keine Beobachtung vom ${from} bis zum ${to}.`,
  noMatch: (from, to) => `Keine Beobachtung vom ${from} bis zum ${to} passt zu den Filtern.`,
  noneCounted: (from, to) => `Keine Beobachtung gezählt vom ${from} bis zum ${to}.`,
  observedBetween: ({ applied, removed }, from, to) =>
    `${count(applied)} vergeben und ${count(removed)} entfernt vom ${from} bis zum ${to}.`,
  partMissed: (missing) => `Davon nicht beobachtet: ${missing}; was in dieser Zeit geschah, ist unbekannt.`,
  daysUncounted: (n) =>
    `${counted(n, { one: 'Tag hatte', other: 'Tage hatten' })} zu viele Zeilen, um hier gezählt zu werden, und ${plural(n, { one: 'ist', other: 'sind' })} in diesen Summen nicht enthalten.`,

  download: 'Alles herunterladen',
  tooManyDownloads: (link) => [
    'Es sind zu viele Zeilen, um Downloads hier aufzulisten. Fordern Sie einen ',
    link('Export'),
    ' an: Die Antwort nennt Zeiträume, die passen und zusammen diesen abdecken.',
  ],
  wholeDownload: (link, filtered) => [
    link('Als JSON herunterladen'),
    `: alle Beobachtungen dieses Zeitraums${filtered ? ', die zu den Filtern passen' : ''}, samt Lücken und einer Prüfsumme.`,
  ],
  partDownloads: (n, filtered) =>
    `${counted(n, rows)} sind zu viele für einen Download. Zusammen sind diese Teile vollständig${filtered ? ' (die Filter wählen weniger aus)' : ''}:`,
  range: (from, to) => `${from} bis ${to}`,
  rows: (n) => counted(n, rows),
  downloadsExpire: (link, command) => [
    'Download-Links laufen nach einigen Minuten ab; laden Sie diese Seite neu, um neue zu erhalten. Programme können dieselben Daten seitenweise über ',
    link('den Export dieser Abfrage'),
    ' lesen oder mit ',
    command,
    '. Zeilen, auch die von gelöschten Konten, werden 30 Tage lang angezeigt und innerhalb von 33 Tagen gelöscht, solange der Dienst läuft.',
  ],
};
