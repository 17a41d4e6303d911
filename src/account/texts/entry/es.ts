import { formatsOf } from '../../../web/language/formats.ts';
import type { EntryTexts } from './en.ts';

const { counted } = formatsOf('es');

const did = 'did:plc: seguido de 24 caracteres (a-z, 2-7), o did:web: seguido de un nombre de host';

/** Spanish texts of the page frame, the forms, the home page and the error pages. */
export const entryEs: EntryTexts = {
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
    'No es un archivo: las filas se eliminan a los 30 días, también las de cuentas borradas.',
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
    failed: 'No se ha podido resolver este identificador en este momento. Inténtelo de nuevo o introduzca el DID.',
    neither: `No es ni un identificador ni un DID. Un identificador se parece a alice.bsky.social; un DID es ${did}.`,
    did_only: `Este servicio no resuelve identificadores. Introduzca el DID de la cuenta: ${did}.`,
  },
};
