import { formatsOf } from '../../../web/language/formats.ts';
import type { ViewTexts } from './en.ts';

const { count, counted, plural } = formatsOf('es');
const labelers = { one: 'etiquetador', other: 'etiquetadores' };
const rows = { one: 'fila', many: 'de filas', other: 'filas' };

/** Spanish texts of the page of an account. */
export const viewEs: ViewTexts = {
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
    unverified: 'Sin comprobar: no se encontró ninguna clave',
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
  others: (states, past) => `Los demás no${past ? ' se leían' : ''}, por lo que aquí faltan sus etiquetas: ${states}.`,
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
    source_unavailable: 'el etiquetador no respondía',
    ingest_paused: 'interrupción de Almanac',
    cursor_reset: 'se perdió la posición de Almanac en el flujo del etiquetador',
    maintenance: 'mantenimiento de Almanac',
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
    '. Las filas se eliminan a los 30 días, también las de cuentas borradas.',
  ],
};
