import { formatsOf } from '../../../web/language/formats.ts';
import type { EntryTexts } from './en.ts';

const { counted } = formatsOf('pt');

const did = 'did:plc: e 24 das letras a-z e dos dígitos 2-7, ou did:web: e um nome de host';

/** Portuguese texts of the page frame, the forms, the home page and the error pages. */
export const entryPt: EntryTexts = {
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
    'Não é um arquivo: as linhas são removidas após 30 dias, inclusive as de contas excluídas.',
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
    failed: 'Não foi possível resolver este identificador no momento. Tente novamente ou informe o DID.',
    neither: `Isto não é um identificador nem um DID. Um identificador se parece com alice.bsky.social; um DID é ${did}.`,
    did_only: `Este serviço não resolve identificadores. Informe o DID da conta: ${did}.`,
  },
};
