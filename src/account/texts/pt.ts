import { formatsOf } from '../../web/language.ts';
import type { Texts } from './en.ts';

const formats = formatsOf('pt');
const { count, counted, plural } = formats;
const labelers = { one: 'rotulador', other: 'rotuladores' };
const rows = { one: 'linha', many: 'de linhas', other: 'linhas' };
const did = 'did:plc: e 24 das letras a-z e dos dígitos 2-7, ou did:web: e um nome de host';

/** Portuguese texts of the account pages. */
export const pt: Texts = {
  language: 'pt',
  formats,
  translationNote:
    'Tradução automática, ainda não revisada por falantes nativos; em caso de dúvida, vale a página em inglês. As palavras dos rotuladores não são traduzidas.',

  skip: 'Pular para o conteúdo',
  site: 'Site',
  languageMenu: 'Idioma',
  lookUp: 'Consultar uma conta',
  shortened: '(abreviado)',
  bannerLabel: 'De onde vêm estes dados',
  banner: {
    simulated: 'Estas observações vêm de uma rede simulada. Elas não dizem nada sobre a rede real.',
    sample: 'Estas observações vêm de uma amostra incluída. Elas não dizem nada sobre a rede de hoje.',
  },
  bannerTitle: { simulated: '[simulado]', sample: '[amostra]' },

  accountOrHandle: 'Identificador (handle) ou DID de uma conta',
  accountDid: 'DID de uma conta',
  handleHint: 'Por exemplo, alice.bsky.social ou um DID que começa com did:plc: ou did:web:',
  didHint: 'Começa com did:plc: ou did:web:',
  show: 'Mostrar observações',
  interval: 'Intervalo',
  days: (n) => counted(n, { one: 'dia', other: 'dias' }),
  anotherInterval: 'Outro intervalo',
  from: 'De (UTC, incluído)',
  to: 'Até (UTC, não incluído)',
  showInterval: 'Mostrar este intervalo',
  intervalHint: 'Por exemplo, 2026-11-20T08:30:00Z: o dia, T, a hora com segundos e Z para UTC.',
  filter: 'Filtrar',
  labeler: 'Rotulador',
  anyLabeler: 'qualquer rotulador',
  value: 'Valor',
  whatHappened: 'O que aconteceu',
  anyAction: 'aplicado ou removido',
  subjectKind: 'Objeto',
  anySubject: 'qualquer objeto',
  filtered: 'Apenas uma parte das observações é mostrada. Filtros:',
  removeFilter: 'Remover este filtro',

  homeTitle: 'Almanac: rótulos observados em uma conta',
  homeHeading: 'Quais rótulos foram observados em uma conta?',
  homeLead:
    'Rotuladores são serviços públicos de moderação da rede do protocolo AT. O Almanac os lê e registra os rótulos que eles aplicam e removem. Consulte uma conta para ver os rótulos observados nela, em suas publicações e em seus outros registros.',
  samplesHeading: 'Consulte uma destas contas simuladas',
  isHeading: 'O que é isto',
  is: [
    'Eventos públicos de rótulos dos últimos 30 dias, no máximo, como cada rotulador os publicou.',
    'Dois momentos para cada um: quando o rotulador diz que escreveu o rótulo e quando o Almanac o recebeu.',
    'Cada rotulador em separado: o mesmo valor de dois rotuladores são duas observações.',
    'Os limites da observação: lacunas, interrupções, rotuladores que não são lidos.',
    'Todas as linhas como download ou exportação.',
  ],
  isNotHeading: 'O que não é',
  isNot: [
    'Não diz quais rótulos uma conta tem: o Almanac observa quando são aplicados e removidos, não quais valem agora.',
    'Não é completo: se nenhum rótulo foi observado, isso não significa que nenhum exista.',
    'Não é um julgamento: os valores e as definições são palavras dos próprios rotuladores.',
    'Não é um arquivo: as linhas, inclusive as de contas excluídas, são exibidas por 30 dias e removidas em até 33 dias enquanto o serviço está em execução.',
    'Não guarda dados de visitantes: as contas consultadas não são registradas e nenhum cookie é usado.',
  ],

  failedTitle: (code) => `A solicitação falhou: ${code}`,
  tryAgain: (span) => `Tente novamente em ${span}.`,
  code: (code) => ['Código: ', code, '. Nada se pode concluir disso sobre qualquer conta.'],
  refusalHeading: {
    not_found: 'Não há nenhuma página neste endereço',
    invalid_account: 'Não é possível consultar esta conta',
    invalid_interval: 'Este intervalo é inválido',
    unsupported_interval: 'Este intervalo não é aceito',
    out_of_window: 'Não há dados disponíveis para este intervalo',
    invalid_filter: 'Este filtro é inválido',
    unknown_parameter: 'Este endereço é inválido',
    invalid_cursor: 'Este ponto da lista não existe',
    export_too_large: 'Esta solicitação falhou',
    snapshot_expired: 'Esta solicitação falhou',
    store_busy: 'As observações não podem ser lidas no momento',
    store_behind: 'As observações ainda não chegaram aqui',
    client_budget: 'O limite de consultas foi atingido',
    internal_error: 'Algo deu errado',
  },
  refusal: {
    not_found: `Digite o identificador da conta, por exemplo alice.bsky.social, ou o seu DID: ${did}.`,
    invalid_account: `Informe uma única vez o DID da conta: ${did}.`,
    invalid_interval: 'Informe De e Até juntos, cada um com dia e hora, e Até depois de De.',
    unsupported_interval: 'Escolha 7 dias, 30 dias ou um intervalo entre dois instantes.',
    out_of_window:
      'Nenhuma parte deste intervalo está disponível: ele fica fora dos últimos 30 dias ou antes do início da observação.',
    invalid_filter:
      'Um filtro é inválido. O rotulador é um DID e o valor tem no máximo 128 bytes; cada filtro é informado uma única vez.',
    unknown_parameter: 'O endereço contém um parâmetro que esta página não aceita.',
    invalid_cursor: 'O endereço continua uma lista em um ponto que não existe. Comece pelas observações mais recentes.',
    export_too_large: 'O intervalo contém mais linhas do que esta página consegue contar. Escolha um mais curto.',
    snapshot_expired:
      'As observações mais antigas saíram da janela enquanto a página era criada; por isso ela não é mostrada. Recarregue-a.',
    store_busy: 'Há solicitações demais ou as observações não estão disponíveis.',
    store_behind:
      'Este servidor recebe as observações um pouco mais tarde e ainda não tem todas até o fim deste intervalo.',
    client_budget: 'Você atingiu o limite de consultas para a sua rede.',
    internal_error: 'O serviço não conseguiu criar esta página. Tente novamente mais tarde.',
  },
  name: {
    invalid_handle: 'Este não é um identificador da rede pública. Verifique a grafia ou informe o DID.',
    not_found:
      'Este identificador não corresponde a nenhuma conta: nem o DNS nem o próprio site indicam um DID. Verifique a grafia ou informe o DID.',
    unconfirmed:
      'Este identificador aponta para uma conta que não o declara como seu; portanto, não está confirmado. Informe o DID.',
    redirects:
      'O site deste identificador redireciona para outro endereço, que este serviço não consulta. Informe o DID.',
    failed: 'Não foi possível resolver este identificador no momento. Tente novamente ou informe o DID.',
    neither: `Isto não é um identificador nem um DID. Um identificador se parece com alice.bsky.social; um DID é ${did}.`,
    did_only: `Este serviço não resolve identificadores. Informe o DID da conta: ${did}.`,
  },

  title: (did) => `Rótulos observados em ${did}`,
  heading: 'Rótulos observados em',
  lead: (from, to) => [
    'Rótulos aplicados e removidos que foram observados entre ',
    from,
    ' e ',
    to,
    ', com os limites da observação. Esta página não sabe quais rótulos valem agora.',
  ],
  clipped: (from, to) => [
    'Só uma parte do tempo solicitado foi observada e ainda é mantida. Esta página começa em ',
    from,
    ' e termina em ',
    to,
    '.',
  ],
  before: (at) => ['Observações aceitas antes de ', at, '. Esta página é uma parte da lista.'],
  none: 'Nenhuma observação neste intervalo.',
  noneMatching: 'Nenhuma observação deste intervalo corresponde aos filtros.',
  noneMatchingBefore: 'Nenhuma observação anterior a este ponto corresponde aos filtros.',
  noneExplained:
    'Isso não significa que não existam rótulos: esta página mostra apenas os que foram aplicados ou removidos neste intervalo por rotuladores que o Almanac lê, enquanto os lia. O tempo não observado está indicado abaixo. O Almanac não verifica se a conta existe.',
  events: ({ applied, removed }, uncounted) => {
    const sum = `${count(applied)} aplicados e ${count(removed)} removidos`;
    return uncounted === 0
      ? sum
      : `Pelo menos ${sum} (${counted(uncounted, { one: 'dia não contado', other: 'dias não contados' })})`;
  },
  observed: (events) => ['Observados: ', events, '. '],
  matching: (events) => ['Correspondem aos filtros: ', events, '. '],
  eventsExplained:
    'São eventos: um rótulo aplicado pode ter sido removido sem ser observado, ou pode ter expirado. Se nenhum de um tipo foi observado, isso não significa que nenhum exista.',
  answer: {
    heading: 'Por rotulador e valor',
    skip: 'Pular a tabela',
    caption: (events) =>
      `${events}, por rotulador e valor. As barras comparam os rotuladores. Cada valor leva às suas observações.`,
    columns: { name: 'Rotulador e valor', span: 'Primeira e última' },
    allValues: 'Todos os valores',
    onlyLabeler: 'Mostrar apenas este rotulador',
    moreValues: (n) =>
      `Mais ${counted(n, { one: 'valor', other: 'valores' })} com menos observações não ${plural(n, { one: 'está listado', other: 'estão listados' })} aqui.`,
    missed: (missing) => `Não observado neste intervalo: ${missing}.`,
    noneMissed: 'Nenhum tempo não observado deste rotulador está registrado neste intervalo.',
    daysOnly: 'Apenas o dia UTC é indicado quando esta página não lista todas as observações.',
  },
  ofSubject: (n) => `${counted(n, { one: 'observação', other: 'observações' })} nesta lista`,
  earlierOfSubject: (n) =>
    `${counted(n, { one: 'observação anterior', other: 'observações anteriores' })} deste objeto nesta lista`,
  target: { account: 'Na própria conta', post: 'Em publicações', record: 'Em outros registros' },
  notObserved: 'não observado',
  notAllCounted: 'nem todos contados',
  intervalNotObserved: 'Este intervalo não foi observado.',
  noneOfPart: 'Nenhum observado neste intervalo.',
  noneOfPartBefore: 'Nenhum observado neste intervalo antes deste ponto.',
  noneOfPartYet: 'Nenhum encontrado até agora; as observações mais antigas ainda não foram lidas.',
  more: ({ shown, newest, total }) => {
    const of =
      total === null
        ? ''
        : ` de ${counted(total, { one: 'observação', many: 'de observações', other: 'observações' })}`;
    const part =
      shown === 0 ? 'Nenhuma é mostrada' : `São mostradas as ${count(shown)} ${newest ? 'mais recentes' : 'seguintes'}`;
    return `${part}${of}; esta lista está incompleta.`;
  },
  older: 'Anteriores',
  olderOf: { account: 'na própria conta', post: 'em publicações', record: 'em outros registros' },
  or: 'ou',
  onlyThese: 'apenas estas, começando pelas mais recentes',

  action: { application_observed: 'Aplicado', removal_observed: 'Removido' },
  by: (labeler) => ['pelo rotulador ', labeler],
  claimed: '(declarado, não confirmado)',
  noDefinition: 'Nenhuma definição deste valor pelo rotulador foi observada.',
  globalMeaning: (meaning) => `Significado comum, pois nenhuma definição do rotulador foi observada: ${meaning}`,
  emptyValue: 'um valor vazio',
  accountItself: 'A própria conta',
  collection: 'Coleção',
  version: 'Versão',
  observedAt: 'Observado (relógio do Almanac)',
  authored: 'Escrito (segundo o rotulador)',
  expires: 'Expira (segundo o rotulador)',
  signature: 'Assinatura',
  verdict: {
    verified: 'Verificada com a chave do rotulador',
    verified_earlier_key: 'Verificada com uma chave anterior do rotulador',
    invalid: 'Não corresponde a nenhuma chave conhecida do rotulador',
    unsigned: 'Sem assinatura',
    unverified: 'Não foi possível verificar: nenhuma chave foi encontrada, ou só uma que pode estar desatualizada',
  },
  profileLink: 'Perfil em bsky.app (sai do Almanac)',
  queryLink: 'A resposta do próprio rotulador agora (sai do Almanac e mostra a ele sobre qual conta você pergunta)',
  disagree: 'Se você não concorda com um rótulo',
  appealsSimulated: 'Esta conta é simulada, portanto não há o que contestar. Para uma conta da rede real:',
  appeals:
    'O Almanac não pode alterar nem remover um rótulo. No aplicativo do Bluesky, entre na sua conta e abra o seu próprio perfil ou publicação: se houver rótulos de rotuladores que o aplicativo usa para você, um botão indica quantos. Esse botão abre a lista, e você pode contestar cada um. A contestação vai para o rotulador que aplicou o rótulo, e só ele decide. Valores que começam com “!” não aparecem nessa lista; fale diretamente com o rotulador.',

  coverage: 'O que não foi observado',
  removedBefore: (at, missing) =>
    `As observações anteriores a ${at} foram removidas: falta o início do intervalo (${missing}).`,
  beganOn: (at, missing) =>
    `A observação começou em ${at}: antes disso nada deste intervalo foi observado (${missing}).`,
  nothingYet: 'Nenhum rotulador enviou uma página ainda: nada foi observado até agora.',
  silentSince: (at) => `Nenhum rotulador enviou nada desde ${at}: os eventos posteriores são desconhecidos.`,
  lastPage: (at) => `A última página de um rotulador foi recebida em ${at}.`,
  noInterruption: 'Nenhuma interrupção do Almanac está registrada neste intervalo.',
  interrupted: (times, missing) =>
    `O Almanac foi interrompido ${times === 1 ? 'uma vez' : `${count(times)} vezes`} neste intervalo (${missing} no total): durante esse tempo nada foi observado.`,
  read: (read, all, past) => {
    const are = past
      ? plural(read, { one: 'era lido', other: 'eram lidos' })
      : plural(read, { one: 'é lido', other: 'são lidos' });
    const when = past ? ' quando o Almanac recebeu algo pela última vez' : '';
    return `De ${counted(all, labelers)} que o Almanac acompanha, ${count(read)} ${are}${when}, cada um a partir da última posição salva.`;
  },
  others: (states) => `Aqui podem faltar rótulos dos outros: ${states}.`,
  stateCount: (n, state) => `${count(n)} ${state}`,
  notEnrolled: (n, past) => {
    const are = past
      ? plural(n, { one: 'era lido', other: 'eram lidos' })
      : plural(n, { one: 'é lido', other: 'são lidos' });
    return `${counted(n, { one: 'rotulador conhecido', other: 'rotuladores conhecidos' })} não ${are}.`;
  },
  missed: (n, longest, others) => {
    const length = n === 1 ? `${longest} no total` : `cada um, até ${longest} no total`;
    const listed = others ? plural(n, { one: ' que não aparece abaixo', other: ' que não aparecem abaixo' }) : '';
    return `${counted(n, labelers)}${listed} não ${plural(n, { one: 'foi observado', other: 'foram observados' })} durante todo este intervalo ou parte dele (${length}): os rótulos que ${plural(n, { one: 'aplicou ou removeu', other: 'aplicaram ou removeram' })} nesse tempo são desconhecidos. A exportação ${plural(n, { one: 'o', other: 'os' })} lista.`;
  },
  betweenReads: 'Rótulos que um rotulador aplica e remove entre duas leituras, ou que não publica, não são observados.',
  purged: (n, day) => `Linhas de ${counted(n, labelers)} foram removidas a pedido do operador, a última vez em ${day}.`,
  purging: (n, day) => `Linhas de ${counted(n, labelers)} estão sendo removidas a pedido do operador, desde ${day}.`,
  spaces: (n, day) => {
    const what = plural(n, { one: 'rótulo em um objeto', other: 'rótulos em objetos' });
    const when = day === null ? 'Removidos até agora (ainda incompleto)' : `Removidos até ${day}`;
    return `${when}: ${count(n)} ${what} dentro de espaços, cujos registros não são públicos. Uma versão anterior os aceitava.`;
  },
  interruptions: 'Interrupções do Almanac',
  labelers: 'Rotuladores destas observações',
  labelerAsked: 'O rotulador pelo qual você perguntou',
  moreLabelers: (n) =>
    `Mais ${counted(n, labelers)} com menos observações não ${plural(n, { one: 'está listado', other: 'estão listados' })} aqui.`,
  unread: {
    never_read: 'Este rotulador nunca foi lido: os rótulos que ele aplicou ou removeu são desconhecidos.',
    not_known: 'Este rotulador é desconhecido: os rótulos que ele aplicou ou removeu são desconhecidos.',
  },
  sums: ({ applied, removed }, uncounted) =>
    `${uncounted > 0 ? 'Pelo menos ' : ''}${count(applied)} aplicados, ${count(removed)} removidos neste intervalo, independentemente dos filtros.`,
  notReadNow: 'Não é lido no momento.',
  state: (state) => `Estado: ${state}.`,
  statePast: (state) => `Estado quando o Almanac recebeu algo pela última vez: ${state}.`,
  states: {
    established: {
      now: { one: 'é lido a partir da última posição salva', other: 'são lidos a partir da última posição salva' },
      past: { one: 'era lido a partir da última posição salva', other: 'eram lidos a partir da última posição salva' },
    },
    unstarted: { now: { other: 'sem consulta ainda' }, past: { other: 'sem consulta ainda' } },
    probing: { now: { other: 'em teste' }, past: { other: 'em teste' } },
    refused: {
      now: { one: 'recusa a leitura', other: 'recusam a leitura' },
      past: { one: 'recusava a leitura', other: 'recusavam a leitura' },
    },
    cursor_order_unverified: {
      now: { other: 'com leitura em ordem não verificada' },
      past: { other: 'com leitura em ordem não verificada' },
    },
    undated_only: {
      now: { one: 'só fornece rótulos sem data', other: 'só fornecem rótulos sem data' },
      past: { one: 'só fornecia rótulos sem data', other: 'só forneciam rótulos sem data' },
    },
    provider_rejects: { now: { other: 'com recusa do provedor' }, past: { other: 'com recusa do provedor' } },
    unavailable: {
      now: { one: 'não responde', other: 'não respondem' },
      past: { one: 'não respondia', other: 'não respondiam' },
    },
    unknown: { now: { other: 'em estado desconhecido' }, past: { other: 'em estado desconhecido' } },
  },
  lastReadUnknown: 'Não se sabe quando respondeu pela última vez.',
  lastRead: (at) => ['Última leitura bem-sucedida: ', at, '.'],
  noOwnGap: 'Nenhuma lacuna própria está registrada neste intervalo. Isso não prova que não houve nenhuma.',
  ownGaps: (n, missing) => `${counted(n, { one: 'lacuna própria', other: 'lacunas próprias' })}, ${missing} no total.`,
  itsGaps: 'Suas lacunas',
  gap: (from, to, missing, reason) => ['de ', from, ' a ', to, ` (${missing}): ${reason}`],
  earlierGaps: (n) => `e ${counted(n, { one: 'lacuna anterior', other: 'lacunas anteriores' })}`,
  reason: {
    not_observed: 'não observado',
    source_unavailable: 'o rotulador estava indisponível ou não era lido',
    ingest_paused: 'interrupção do Almanac',
    cursor_reset: 'a posição do Almanac no fluxo do rotulador foi perdida',
    maintenance: 'manutenção do Almanac, ou seu operador removeu as observações',
    warmup: 'antes do início da observação',
    unknown: 'motivo desconhecido',
  },

  byDay: 'Por dia',
  chartTop: (highest) => `Observações por dia; a barra mais alta é ${highest}`,
  chartSummary: (summary) => `Barras para cada dia. ${summary} A tabela abaixo contém os mesmos dados em números.`,
  legend: {
    up: 'aplicados, acima da linha',
    down: 'removidos, abaixo dela',
    unseen: 'não observado',
    part: 'nem tudo observado',
    uncounted: 'não contado',
  },
  asTable: 'Os mesmos dados em uma tabela',
  captionUnseen: 'Não observado, por dia UTC do relógio do Almanac',
  caption: (events) => `${events}, por dia UTC do relógio do Almanac`,
  columns: { day: 'Dia', applied: 'Aplicados', removed: 'Removidos', unseen: 'Não observado' },
  notCounted: 'não contado',
  partOfDay: (from, until) =>
    `,${from === null ? '' : ` a partir das ${from}`}${until === null ? '' : ` até as ${until}`}`,
  allOfIt: 'tudo',
  someLabelers: (missing) => `alguns rotuladores: ${missing}`,
  dayCounts: (applied, removed) => `${count(applied)} aplicados, ${count(removed)} removidos`,
  dayMissed: (counts, missing) => `${counts}; não observado: ${missing}`,
  nothingObserved: (from, to) => `Nada foi observado entre ${from} e ${to}; os eventos desse tempo são desconhecidos.`,
  noObservation: (from, to) => `Nenhuma observação entre ${from} e ${to}.`,
  noMatch: (from, to) => `Nenhuma observação entre ${from} e ${to} corresponde aos filtros.`,
  noneCounted: (from, to) => `Nenhuma observação contada entre ${from} e ${to}.`,
  observedBetween: ({ applied, removed }, from, to) =>
    `${count(applied)} aplicados e ${count(removed)} removidos entre ${from} e ${to}.`,
  partMissed: (missing) => `Não observado: ${missing}; os eventos desse tempo são desconhecidos.`,
  daysUncounted: (n) =>
    `${counted(n, { one: 'dia tinha', other: 'dias tinham' })} linhas demais para serem contadas aqui e não ${plural(n, { one: 'faz', other: 'fazem' })} parte destas somas.`,

  download: 'Baixar tudo',
  tooManyDownloads: (link) => [
    'Há linhas demais para listar os downloads aqui. Solicite uma ',
    link('exportação'),
    ': a resposta indica intervalos que cabem e que juntos cobrem este.',
  ],
  wholeDownload: (link, filtered) => [
    link('Baixar como JSON'),
    `: todas as linhas deste intervalo${filtered ? ' que correspondem aos filtros' : ''}, com a cobertura e um resumo criptográfico.`,
  ],
  partDownloads: (n, filtered) =>
    `${counted(n, rows)} são demais para um único download. Juntas, estas partes estão completas${filtered ? ' (os filtros selecionam menos)' : ''}:`,
  range: (from, to) => `de ${from} a ${to}`,
  rows: (n) => counted(n, rows),
  downloadsExpire: (link, command) => [
    'Os links de download expiram após alguns minutos; recarregue esta página para obter novos. Programas podem ler os mesmos dados em páginas com ',
    link('a exportação desta consulta'),
    ' ou com ',
    command,
    '. As linhas, inclusive as de contas excluídas, são exibidas por 30 dias e removidas em até 33 dias enquanto o serviço está em execução.',
  ],
};
