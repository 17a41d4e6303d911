import { formatsOf } from '../../web/language.ts';
import type { Texts } from './en.ts';

const formats = formatsOf('es');
const { count, counted, plural } = formats;
const labelers = { one: 'etiquetador', other: 'etiquetadores' };
const rows = { one: 'fila', many: 'de filas', other: 'filas' };
const did = 'did:plc: seguido de 24 caracteres (a-z, 2-7), o did:web: seguido de un nombre de host';

/** Spanish texts of the account pages. */
export const es: Texts = {
  language: 'es',
  formats,
  translationNote:
    'Traducción automática, aún no revisada por hablantes nativos; en caso de duda vale la página en inglés. Las palabras de los etiquetadores no se traducen.',

  skip: 'Saltar al contenido',
  site: 'Sitio',
  languageMenu: 'Idioma',
  lookUp: 'Consultar una cuenta',
  shortened: '(abreviado)',
  bannerLabel: 'De dónde proceden estos datos',
  banner: {
    simulated: 'Estas observaciones proceden de una red simulada. No dicen nada sobre la red real.',
    sample: 'Estas observaciones proceden de una muestra incluida. No dicen nada sobre la red de hoy.',
  },
  bannerTitle: { simulated: '[simulado]', sample: '[muestra]' },

  accountOrHandle: 'Identificador (handle) o DID de una cuenta',
  accountDid: 'DID de una cuenta',
  handleHint: 'Por ejemplo, alice.bsky.social o un DID que empieza por did:plc: o did:web:',
  didHint: 'Empieza por did:plc: o did:web:',
  show: 'Mostrar observaciones',
  interval: 'Intervalo',
  days: (n) => counted(n, { one: 'día', other: 'días' }),
  anotherInterval: 'Otro intervalo',
  from: 'Desde (UTC, incluido)',
  to: 'Hasta (UTC, no incluido)',
  showInterval: 'Mostrar este intervalo',
  intervalHint: 'Por ejemplo, 2026-11-20T08:30:00Z: el día, T, la hora con segundos y Z para UTC.',
  filter: 'Filtrar',
  labeler: 'Etiquetador',
  anyLabeler: 'cualquier etiquetador',
  value: 'Valor',
  whatHappened: 'Qué ocurrió',
  anyAction: 'aplicada o retirada',
  subjectKind: 'Objeto',
  anySubject: 'cualquier objeto',
  filtered: 'Solo se muestra una parte de las observaciones. Filtros:',
  removeFilter: 'Quitar este filtro',

  homeTitle: 'Almanac: etiquetas observadas en una cuenta',
  homeHeading: '¿Qué etiquetas se han observado en una cuenta?',
  homeLead:
    'Los etiquetadores son servicios públicos de moderación de la red del protocolo AT. Almanac los lee y registra las etiquetas que aplican y retiran. Consulte una cuenta para ver las etiquetas observadas en ella, en sus publicaciones y en sus demás registros.',
  samplesHeading: 'Consulte una de estas cuentas simuladas',
  isHeading: 'Qué es esto',
  is: [
    'Eventos públicos de etiquetas de los últimos 30 días como máximo, tal como los publicó cada etiquetador.',
    'Dos momentos para cada uno: cuándo dice el etiquetador que escribió la etiqueta y cuándo la recibió Almanac.',
    'Cada etiquetador por separado: el mismo valor de dos etiquetadores son dos observaciones.',
    'Los límites de la observación: lagunas, interrupciones, etiquetadores que no se leen.',
    'Todas las filas como descarga o exportación.',
  ],
  isNotHeading: 'Qué no es',
  isNot: [
    'No dice qué etiquetas tiene una cuenta: Almanac observa cuándo se aplican y se retiran, no cuáles están vigentes ahora.',
    'No es completo: que no se haya observado ninguna etiqueta no significa que no exista.',
    'No es un juicio: los valores y las definiciones son palabras de los propios etiquetadores.',
    'No es un archivo: las filas, también las de cuentas borradas, se muestran durante 30 días y se eliminan en un plazo máximo de 33 días mientras el servicio está en marcha.',
    'No guarda datos de las visitas: las cuentas consultadas no se registran y no se usa ninguna cookie.',
  ],

  failedTitle: (code) => `La solicitud ha fallado: ${code}`,
  tryAgain: (span) => `Inténtelo de nuevo dentro de ${span}.`,
  code: (code) => ['Código: ', code, '. De esto no se puede concluir nada sobre ninguna cuenta.'],
  refusalHeading: {
    not_found: 'No hay ninguna página en esta dirección',
    invalid_account: 'No se puede consultar esta cuenta',
    invalid_interval: 'Este intervalo no es válido',
    unsupported_interval: 'Este intervalo no se admite',
    out_of_window: 'No hay datos disponibles para este intervalo',
    invalid_filter: 'Este filtro no es válido',
    unknown_parameter: 'Esta dirección no es válida',
    invalid_cursor: 'Este punto de la lista no existe',
    export_too_large: 'Esta solicitud ha fallado',
    snapshot_expired: 'Esta solicitud ha fallado',
    store_busy: 'Las observaciones no se pueden leer en este momento',
    store_behind: 'Las observaciones aún no han llegado aquí',
    client_budget: 'Se ha alcanzado el límite de consultas',
    internal_error: 'Algo ha salido mal',
  },
  refusal: {
    not_found: `Escriba el identificador de la cuenta, por ejemplo alice.bsky.social, o su DID: ${did}.`,
    invalid_account: `Indique una sola vez el DID de la cuenta: ${did}.`,
    invalid_interval: 'Indique Desde y Hasta juntos, cada uno con día y hora, y Hasta después de Desde.',
    unsupported_interval: 'Elija 7 días, 30 días o un intervalo entre dos instantes.',
    out_of_window:
      'No hay ninguna parte disponible de este intervalo: queda fuera de los últimos 30 días o es anterior al inicio de la observación.',
    invalid_filter:
      'Un filtro no es válido. El etiquetador es un DID y el valor tiene como máximo 128 bytes; cada filtro se indica una sola vez.',
    unknown_parameter: 'La dirección contiene un parámetro que esta página no admite.',
    invalid_cursor:
      'La dirección continúa una lista en un punto que no existe. Empiece por las observaciones más recientes.',
    export_too_large: 'El intervalo contiene más filas de las que esta página puede contar. Elija uno más corto.',
    snapshot_expired:
      'Las observaciones más antiguas salieron de la ventana mientras se creaba la página, por lo que no se muestra. Vuelva a cargarla.',
    store_busy: 'Hay demasiadas solicitudes o las observaciones no están disponibles.',
    store_behind:
      'Este servidor recibe las observaciones un poco más tarde y aún no tiene todas hasta el final de este intervalo.',
    client_budget: 'Ha alcanzado el límite de consultas para su red.',
    internal_error: 'El servicio no ha podido crear esta página. Inténtelo más tarde.',
  },
  name: {
    invalid_handle: 'No es un identificador de la red pública. Compruebe cómo está escrito o introduzca el DID.',
    not_found:
      'Este identificador no corresponde a ninguna cuenta: ni su DNS ni su propio sitio indican un DID. Compruebe cómo está escrito o introduzca el DID.',
    unconfirmed:
      'Este identificador apunta a una cuenta que no lo declara como suyo, así que no está confirmado. Introduzca el DID.',
    redirects:
      'El sitio de este identificador redirige a otra dirección, que este servicio no consulta. Introduzca el DID.',
    failed: 'No se ha podido resolver este identificador en este momento. Inténtelo de nuevo o introduzca el DID.',
    neither: `No es ni un identificador ni un DID. Un identificador se parece a alice.bsky.social; un DID es ${did}.`,
    did_only: `Este servicio no resuelve identificadores. Introduzca el DID de la cuenta: ${did}.`,
  },

  title: (did) => `Etiquetas observadas en ${did}`,
  heading: 'Etiquetas observadas en',
  lead: (from, to) => [
    'Etiquetas aplicadas y retiradas que se observaron entre el ',
    from,
    ' y el ',
    to,
    ', con los límites de la observación. Aquí no se puede ver qué etiquetas están vigentes ahora.',
  ],
  clipped: (from, to) => [
    'Solo una parte del tiempo solicitado se observó y se conserva todavía. Esta página empieza el ',
    from,
    ' y termina el ',
    to,
    '.',
  ],
  before: (at) => ['Observaciones aceptadas antes del ', at, '. Esta página es una parte de la lista.'],
  none: 'No hay observaciones en este intervalo.',
  noneMatching: 'Ninguna observación de este intervalo coincide con los filtros.',
  noneMatchingBefore: 'Ninguna observación anterior a este punto coincide con los filtros.',
  noneExplained:
    'Eso no significa que no existan etiquetas: esta página solo muestra las que aplicaron o retiraron en este intervalo los etiquetadores que Almanac lee, mientras los leía. El tiempo no observado se indica más abajo. Almanac no comprueba si la cuenta existe.',
  events: ({ applied, removed }, uncounted) => {
    const sum = `${counted(applied, { one: 'etiqueta aplicada', other: 'etiquetas aplicadas' })} y ${counted(removed, { one: 'retirada', other: 'retiradas' })}`;
    return uncounted === 0 ? sum : `Al menos ${sum} (${counted(uncounted, { one: 'día', other: 'días' })} sin contar)`;
  },
  observed: (events) => ['Observadas: ', events, '. '],
  matching: (events) => ['Coinciden con los filtros: ', events, '. '],
  eventsExplained:
    'Son eventos: una etiqueta aplicada puede haberse retirado sin que se observara, o puede haber caducado. Que no se haya observado ninguna de un tipo no significa que no exista.',
  answer: {
    heading: 'Por etiquetador y valor',
    skip: 'Saltar la tabla',
    caption: (events) =>
      `${events}, por etiquetador y valor. Las barras comparan los etiquetadores. Cada valor enlaza con sus observaciones.`,
    columns: { name: 'Etiquetador y valor', span: 'Primera y última' },
    allValues: 'Todos los valores',
    onlyLabeler: 'Mostrar solo este etiquetador',
    moreValues: (n) =>
      `${counted(n, { one: 'valor más', other: 'valores más' })} con menos observaciones no ${plural(n, { one: 'figura', other: 'figuran' })} aquí.`,
    missed: (missing) => `Sin observar en este intervalo: ${missing}.`,
    noneMissed: 'No consta tiempo sin observar de este etiquetador en este intervalo.',
    daysOnly: 'Solo se indica el día UTC cuando esta página no muestra todas las observaciones.',
  },
  ofSubject: (n) => `${counted(n, { one: 'observación', other: 'observaciones' })} en esta lista`,
  earlierOfSubject: (n) =>
    `${counted(n, { one: 'observación anterior', other: 'observaciones anteriores' })} de este objeto en esta lista`,
  target: { account: 'En la propia cuenta', post: 'En publicaciones', record: 'En otros registros' },
  notObserved: 'no observado',
  notAllCounted: 'no todas contadas',
  intervalNotObserved: 'Este intervalo no se observó.',
  noneOfPart: 'Ninguna observada en este intervalo.',
  noneOfPartBefore: 'Ninguna observada en este intervalo antes de este punto.',
  noneOfPartYet: 'Ninguna encontrada hasta ahora; las observaciones más antiguas aún no se han leído.',
  more: ({ shown, newest, total }) => {
    const of =
      total === null
        ? ''
        : ` de ${counted(total, { one: 'observación', many: 'de observaciones', other: 'observaciones' })}`;
    const part =
      shown === 0
        ? 'No se muestra ninguna'
        : `Se muestran las ${count(shown)} ${newest ? 'más recientes' : 'siguientes'}`;
    return `${part}${of}; esta lista está incompleta.`;
  },
  older: 'Anteriores',
  olderOf: { account: 'en la propia cuenta', post: 'en publicaciones', record: 'en otros registros' },
  or: 'o',
  onlyThese: 'solo estas, empezando por las más recientes',

  action: { application_observed: 'Aplicada', removal_observed: 'Retirada' },
  by: (labeler) => ['por el etiquetador ', labeler],
  claimed: '(declarado, no confirmado)',
  noDefinition: 'No se ha observado ninguna definición de este valor por parte del etiquetador.',
  globalMeaning: (meaning) => `Significado común, ya que no se observó ninguna definición del etiquetador: ${meaning}`,
  emptyValue: 'un valor vacío',
  accountItself: 'La propia cuenta',
  collection: 'Colección',
  version: 'Versión',
  observedAt: 'Observada (reloj de Almanac)',
  authored: 'Escrita (según el etiquetador)',
  expires: 'Caduca (según el etiquetador)',
  signature: 'Firma',
  verdict: {
    verified: 'Verificada con la clave del etiquetador',
    verified_earlier_key: 'Verificada con una clave anterior del etiquetador',
    invalid: 'No corresponde a ninguna clave conocida del etiquetador',
    unsigned: 'Sin firma',
    unverified: 'No se pudo comprobar: no se encontró ninguna clave, o solo una que puede estar desactualizada',
  },
  profileLink: 'Perfil en bsky.app (sale de Almanac)',
  queryLink: 'Su propia respuesta ahora (sale de Almanac y muestra al etiquetador por qué cuenta pregunta usted)',
  disagree: 'Si no está de acuerdo con una etiqueta',
  appealsSimulated: 'Esta cuenta es simulada, así que no hay nada que apelar. Para una cuenta de la red real:',
  appeals:
    'Almanac no puede cambiar ni quitar una etiqueta. En la aplicación de Bluesky, inicie sesión y abra su propio perfil o publicación: si tiene etiquetas de etiquetadores que la aplicación usa para usted, un botón indica cuántas. Ese botón abre la lista, y puede apelar contra cada una. La apelación llega al etiquetador que aplicó la etiqueta, y solo él decide. Los valores que empiezan por «!» no aparecen en esa lista; diríjase directamente al etiquetador.',

  coverage: 'Lo que no se observó',
  removedBefore: (at, missing) =>
    `Las observaciones anteriores al ${at} se han eliminado: falta el principio del intervalo (${missing}).`,
  beganOn: (at, missing) => `La observación empezó el ${at}: antes no se observó nada de este intervalo (${missing}).`,
  nothingYet: 'Ningún etiquetador ha enviado todavía una página: hasta ahora no se ha observado nada.',
  silentSince: (at) => `Ningún etiquetador ha enviado nada desde el ${at}: los eventos posteriores se desconocen.`,
  lastPage: (at) => `La última página de un etiquetador se recibió el ${at}.`,
  noInterruption: 'No consta ninguna interrupción de Almanac en este intervalo.',
  interrupted: (times, missing) =>
    `Almanac se interrumpió ${times === 1 ? 'una vez' : `${count(times)} veces`} en este intervalo (${missing} en total): durante ese tiempo no se observó nada.`,
  read: (read, all, past) => {
    const are = past
      ? plural(read, { one: 'se leía', other: 'se leían' })
      : plural(read, { one: 'se lee', other: 'se leen' });
    const when = past ? ' cuando Almanac recibió algo por última vez' : '';
    return `De ${counted(all, labelers)} que Almanac sigue, ${count(read)} ${are}${when}, cada uno desde la última posición guardada.`;
  },
  others: (states) => `Aquí pueden faltar etiquetas de los demás: ${states}.`,
  stateCount: (n, state) => `${count(n)} ${state}`,
  notEnrolled: (n, past) => {
    const are = past
      ? plural(n, { one: 'se leía', other: 'se leían' })
      : plural(n, { one: 'se lee', other: 'se leen' });
    return `${counted(n, { one: 'etiquetador conocido', other: 'etiquetadores conocidos' })} no ${are} en absoluto.`;
  },
  missed: (n, longest, others) => {
    const length = n === 1 ? `${longest} en total` : `cada uno, hasta ${longest} en total`;
    const listed = others ? plural(n, { one: ' que no figura abajo', other: ' que no figuran abajo' }) : '';
    return `${counted(n, labelers)}${listed} no ${plural(n, { one: 'se observó', other: 'se observaron' })} durante todo este intervalo o una parte (${length}): las etiquetas que ${plural(n, { one: 'aplicó o retiró', other: 'aplicaron o retiraron' })} entonces se desconocen. La exportación ${plural(n, { one: 'lo', other: 'los' })} enumera.`;
  },
  betweenReads: 'No se observan las etiquetas que un etiquetador aplica y retira entre dos lecturas, o que no publica.',
  purged: (n, day) =>
    `Se eliminaron filas de ${counted(n, labelers)} a petición del operador, la última vez el ${day}.`,
  purging: (n, day) => `Se están eliminando filas de ${counted(n, labelers)} a petición del operador, desde el ${day}.`,
  spaces: (n, day) => {
    const what = plural(n, { one: 'etiqueta sobre un objeto', other: 'etiquetas sobre objetos' });
    const when = day === null ? 'Eliminadas hasta ahora (aún incompleto)' : `Eliminadas hasta el ${day}`;
    return `${when}: ${count(n)} ${what} dentro de espacios, cuyos registros no son públicos. Una versión anterior las aceptaba.`;
  },
  interruptions: 'Interrupciones de Almanac',
  labelers: 'Etiquetadores de estas observaciones',
  labelerAsked: 'El etiquetador por el que ha preguntado',
  moreLabelers: (n) =>
    `${counted(n, { one: 'etiquetador más', other: 'etiquetadores más' })} con menos observaciones no ${plural(n, { one: 'figura', other: 'figuran' })} aquí.`,
  unread: {
    never_read: 'Este etiquetador no se ha leído nunca: las etiquetas que aplicó o retiró se desconocen.',
    not_known: 'Este etiquetador es desconocido: las etiquetas que aplicó o retiró se desconocen.',
  },
  sums: ({ applied, removed }, uncounted) =>
    `${uncounted > 0 ? 'Al menos ' : ''}${count(applied)} aplicadas, ${count(removed)} retiradas en este intervalo, con independencia de los filtros.`,
  notReadNow: 'No se lee en este momento.',
  state: (state) => `Estado: ${state}.`,
  statePast: (state) => `Estado cuando Almanac recibió algo por última vez: ${state}.`,
  states: {
    established: {
      now: { one: 'se lee desde la última posición guardada', other: 'se leen desde la última posición guardada' },
      past: { one: 'se leía desde la última posición guardada', other: 'se leían desde la última posición guardada' },
    },
    unstarted: { now: { other: 'sin consultar todavía' }, past: { other: 'sin consultar todavía' } },
    probing: { now: { other: 'en prueba' }, past: { other: 'en prueba' } },
    refused: {
      now: { one: 'rechaza la lectura', other: 'rechazan la lectura' },
      past: { one: 'rechazaba la lectura', other: 'rechazaban la lectura' },
    },
    cursor_order_unverified: {
      now: { other: 'con lectura en orden no comprobado' },
      past: { other: 'con lectura en orden no comprobado' },
    },
    undated_only: {
      now: { one: 'solo da etiquetas sin fecha', other: 'solo dan etiquetas sin fecha' },
      past: { one: 'solo daba etiquetas sin fecha', other: 'solo daban etiquetas sin fecha' },
    },
    provider_rejects: { now: { other: 'con rechazo del proveedor' }, past: { other: 'con rechazo del proveedor' } },
    unavailable: {
      now: { one: 'no responde', other: 'no responden' },
      past: { one: 'no respondía', other: 'no respondían' },
    },
    unknown: { now: { other: 'en un estado desconocido' }, past: { other: 'en un estado desconocido' } },
  },
  lastReadUnknown: 'Se desconoce cuándo respondió por última vez.',
  lastRead: (at) => ['Última lectura correcta: ', at, '.'],
  noOwnGap: 'No consta ninguna laguna propia en este intervalo. Eso no demuestra que no la hubiera.',
  ownGaps: (n, missing) => `${counted(n, { one: 'laguna propia', other: 'lagunas propias' })}, ${missing} en total.`,
  itsGaps: 'Sus lagunas',
  gap: (from, to, missing, reason) => ['del ', from, ' al ', to, ` (${missing}): ${reason}`],
  earlierGaps: (n) => `y ${counted(n, { one: 'laguna anterior', other: 'lagunas anteriores' })}`,
  reason: {
    not_observed: 'no observado',
    source_unavailable: 'el etiquetador no estaba disponible o no se leía',
    ingest_paused: 'interrupción de Almanac',
    cursor_reset: 'se perdió la posición de Almanac en el flujo del etiquetador',
    maintenance: 'mantenimiento de Almanac, o su operador eliminó las observaciones',
    warmup: 'antes del inicio de la observación',
    unknown: 'motivo desconocido',
  },

  byDay: 'Por día',
  chartTop: (highest) => `Observaciones por día; la barra más alta es ${highest}`,
  chartSummary: (summary) => `Barras para cada día. ${summary} La tabla de abajo contiene los mismos datos en cifras.`,
  legend: {
    up: 'aplicadas, por encima de la línea',
    down: 'retiradas, por debajo',
    unseen: 'no observado',
    part: 'no todo observado',
    uncounted: 'sin contar',
  },
  asTable: 'Los mismos datos en una tabla',
  captionUnseen: 'No observado, por día UTC del reloj de Almanac',
  caption: (events) => `${events}, por día UTC del reloj de Almanac`,
  columns: { day: 'Día', applied: 'Aplicadas', removed: 'Retiradas', unseen: 'No observado' },
  notCounted: 'sin contar',
  partOfDay: (from, until) =>
    `,${from === null ? '' : ` desde las ${from}`}${until === null ? '' : ` hasta las ${until}`}`,
  allOfIt: 'todo',
  someLabelers: (missing) => `algunos etiquetadores: ${missing}`,
  dayCounts: (applied, removed) => `${count(applied)} aplicadas, ${count(removed)} retiradas`,
  dayMissed: (counts, missing) => `${counts}; no observado: ${missing}`,
  nothingObserved: (from, to) =>
    `No se observó nada entre el ${from} y el ${to}; los eventos de ese tiempo se desconocen.`,
  noObservation: (from, to) => `Ninguna observación entre el ${from} y el ${to}.`,
  noMatch: (from, to) => `Ninguna observación entre el ${from} y el ${to} coincide con los filtros.`,
  noneCounted: (from, to) => `Ninguna observación contada entre el ${from} y el ${to}.`,
  observedBetween: ({ applied, removed }, from, to) =>
    `${count(applied)} aplicadas y ${count(removed)} retiradas entre el ${from} y el ${to}.`,
  partMissed: (missing) => `Sin observar: ${missing}; los eventos de ese tiempo se desconocen.`,
  daysUncounted: (n) =>
    `${counted(n, { one: 'día tenía', other: 'días tenían' })} demasiadas filas para contarlas aquí y no ${plural(n, { one: 'forma', other: 'forman' })} parte de estas sumas.`,

  download: 'Descargar todo',
  tooManyDownloads: (link) => [
    'Hay demasiadas filas para enumerar aquí las descargas. Solicite una ',
    link('exportación'),
    ': la respuesta indica intervalos que caben y que juntos cubren este.',
  ],
  wholeDownload: (link, filtered) => [
    link('Descargar como JSON'),
    `: todas las filas de este intervalo${filtered ? ' que coinciden con los filtros' : ''}, con su cobertura y un resumen criptográfico.`,
  ],
  partDownloads: (n, filtered) =>
    `${counted(n, rows)} son demasiadas para una sola descarga. Juntas, estas partes están completas${filtered ? ' (los filtros seleccionan menos)' : ''}:`,
  range: (from, to) => `del ${from} al ${to}`,
  rows: (n) => counted(n, rows),
  downloadsExpire: (link, command) => [
    'Los enlaces de descarga caducan al cabo de unos minutos; vuelva a cargar esta página para obtener otros. Los programas pueden leer los mismos datos por páginas en ',
    link('la exportación de esta consulta'),
    ' o con ',
    command,
    '. Las filas, también las de cuentas borradas, se muestran durante 30 días y se eliminan en un plazo máximo de 33 días mientras el servicio está en marcha.',
  ],
};
