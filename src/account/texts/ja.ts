import { formatsOf } from '../../web/language.ts';
import type { Texts } from './en.ts';

const formats = formatsOf('ja');
const { count, counted } = formats;
const did = 'did:plc: に続く24文字（英小文字a～zと数字2～7）、または did:web: に続くホスト名';

/** Japanese texts of the account pages. */
export const ja: Texts = {
  language: 'ja',
  formats,
  translationNote:
    '機械翻訳であり、母語話者による確認はまだ行われていません。疑問がある場合は英語のページを参照してください。ラベラーの言葉は翻訳されません。',

  skip: '本文へ移動',
  site: 'サイト',
  languageMenu: '言語',
  lookUp: 'アカウントを調べる',
  shortened: '（省略）',
  bannerLabel: 'このデータの出所',
  banner: {
    simulated:
      'これらの観測はシミュレーションされたネットワークのものです。実際のネットワークについては何も示しません。',
    sample: 'これらの観測は付属のサンプルのものです。今日のネットワークについては何も示しません。',
  },
  bannerTitle: { simulated: '［シミュレーション］', sample: '［サンプル］' },

  accountOrHandle: 'アカウントのハンドルまたはDID',
  accountDid: 'アカウントのDID',
  handleHint: '例：alice.bsky.social、または did:plc: か did:web: で始まるDID',
  didHint: 'did:plc: または did:web: で始まります',
  show: '観測を表示',
  interval: '期間',
  days: (n) => counted(n, { other: '日間' }),
  anotherInterval: '別の期間',
  from: '開始（UTC、この時刻を含む）',
  to: '終了（UTC、この時刻を含まない）',
  showInterval: 'この期間を表示',
  intervalHint: '例：2026-11-20T08:30:00Z（日付、T、秒までの時刻、UTCを表すZ）',
  filter: '絞り込み',
  labeler: 'ラベラー',
  anyLabeler: 'すべてのラベラー',
  value: '値',
  whatHappened: 'イベント',
  anyAction: '付与または解除',
  subjectKind: '対象',
  anySubject: 'すべての対象',
  filtered: '観測の一部だけを表示しています。絞り込み：',
  removeFilter: 'この絞り込みを外す',

  homeTitle: 'Almanac：アカウントで観測されたラベル',
  homeHeading: 'あるアカウントで、どのラベルが観測されましたか？',
  homeLead:
    'ラベラーは、ATプロトコルのネットワークで公開されているモデレーションサービスです。Almanacはラベラーを読み取り、付与されたラベルと解除されたラベルを記録します。アカウントを調べると、そのアカウント、その投稿、その他のレコードで観測されたラベルを確認できます。',
  samplesHeading: 'シミュレーションのアカウントを調べる',
  isHeading: 'このサイトについて',
  is: [
    '最長で過去30日間の公開されたラベルのイベントを、各ラベラーが公開したとおりに示します。',
    'それぞれに2つの時刻があります。ラベラーがラベルを書いたと述べる時刻と、Almanacが受信した時刻です。',
    'ラベラーごとに別々に扱います。2つのラベラーによる同じ値は、2件の観測です。',
    '観測の限界も示します。欠落、中断、読み取られていないラベラーなどです。',
    'すべての行をダウンロードまたはエクスポートできます。',
  ],
  isNotHeading: 'このサイトが示さないこと',
  isNot: [
    'アカウントにどのラベルが付いているかを示すものではありません。Almanacが観測するのは付与と解除であり、いま適用されるラベルではありません。',
    '完全ではありません。ラベルが観測されなかったことは、ラベルが存在しないことを意味しません。',
    '評価ではありません。値と定義は、ラベラー自身の言葉です。',
    'アーカイブではありません。行は、削除されたアカウントのものも含め、30日間表示され、サービスの稼働中は33日以内に消去されます。',
    '閲覧者の記録は残しません。調べたアカウントは記録されず、Cookieも使いません。',
  ],

  failedTitle: (code) => `リクエストに失敗しました：${code}`,
  tryAgain: (span) => `${span}後にもう一度お試しください。`,
  code: (code) => ['コード：', code, '。このことから、いずれのアカウントについても何も結論できません。'],
  refusalHeading: {
    not_found: 'このアドレスにページはありません',
    invalid_account: 'このアカウントは調べられません',
    invalid_interval: 'この期間は無効です',
    unsupported_interval: 'この期間には対応していません',
    out_of_window: 'この期間のデータはありません',
    invalid_filter: 'この絞り込みは無効です',
    unknown_parameter: 'このアドレスは無効です',
    invalid_cursor: 'リストのこの位置は存在しません',
    export_too_large: 'このリクエストは失敗しました',
    snapshot_expired: 'このリクエストは失敗しました',
    store_busy: '現在、観測を読み取れません',
    store_behind: '観測がまだこのサーバーに届いていません',
    client_budget: '検索回数の上限に達しました',
    internal_error: '問題が発生しました',
  },
  refusal: {
    not_found: `アカウントのハンドル（例：alice.bsky.social）またはDIDを入力してください：${did}。`,
    invalid_account: `アカウントのDIDを1つだけ指定してください：${did}。`,
    invalid_interval: '開始と終了を両方とも日付と時刻で指定し、終了を開始より後にしてください。',
    unsupported_interval: '7日間、30日間、または2つの時刻の間の期間を選んでください。',
    out_of_window: 'この期間のどの部分も利用できません。過去30日間の外か、観測の開始より前です。',
    invalid_filter: '絞り込みが無効です。ラベラーはDIDで、値は最大128バイトです。それぞれ1回だけ指定してください。',
    unknown_parameter: 'アドレスに、このページが対応していないパラメーターが含まれています。',
    invalid_cursor: 'アドレスが、リストに存在しない位置から続けようとしています。最新の観測から始めてください。',
    export_too_large: 'この期間の行数は、このページで数えられる上限を超えています。より短い期間を選んでください。',
    snapshot_expired:
      'ページの作成中に最も古い観測が対象期間から外れたため、ページを表示できません。再読み込みしてください。',
    store_busy: 'リクエストが多すぎるか、観測を利用できません。',
    store_behind: 'このサーバーには観測が少し遅れて届きます。この期間の終わりまでの観測がまだ揃っていません。',
    client_budget: 'お使いのネットワークからの検索回数が上限に達しました。',
    internal_error: 'このページを作成できませんでした。後でもう一度お試しください。',
  },
  name: {
    invalid_handle: 'これは公開ネットワークのハンドルではありません。つづりを確認するか、DIDを入力してください。',
    not_found:
      'このハンドルに対応するアカウントはありません。DNSにもハンドルのサイトにもDIDがありません。つづりを確認するか、DIDを入力してください。',
    unconfirmed:
      'このハンドルが指すアカウントは、このハンドルを自分のものとしていないため、確認できません。DIDを入力してください。',
    redirects:
      'このハンドルのサイトは別のアドレスに転送されますが、このサービスは転送先にアクセスしません。DIDを入力してください。',
    failed: '現在、このハンドルを解決できません。もう一度試すか、DIDを入力してください。',
    neither: `これはハンドルでもDIDでもありません。ハンドルは alice.bsky.social のような形で、DIDは ${did}です。`,
    did_only: `このサービスはハンドルを解決しません。アカウントのDIDを入力してください：${did}。`,
  },

  title: (did) => `${did} で観測されたラベル`,
  heading: '次のアカウントで観測されたラベル：',
  lead: (from, to) => [
    from,
    ' から ',
    to,
    ' までに観測されたラベルの付与と解除を、観測の限界とともに示します。いまどのラベルが適用されるかは、このページには分かりません。',
  ],
  clipped: (from, to) => [
    '指定された期間のうち、観測され、現在も保存されているのは一部だけです。このページは ',
    from,
    ' から ',
    to,
    ' までです。',
  ],
  before: (at) => [at, ' より前に受け付けた観測です。このページはリストの一部です。'],
  none: 'この期間に観測はありません。',
  noneMatching: 'この期間に、絞り込みに一致する観測はありません。',
  noneMatchingBefore: 'この位置より前に、絞り込みに一致する観測はありません。',
  noneExplained:
    'これは、ラベルが存在しないことを意味しません。このページが示すのは、Almanacが読み取っているラベラーが、読み取られている間に、この期間に付与または解除したラベルだけです。観測されなかった時間は下に示します。アカウントが実在するかどうかは確認していません。',
  events: ({ applied, removed }, uncounted) => {
    const sum = `付与${count(applied)}件、解除${count(removed)}件`;
    return uncounted === 0 ? sum : `少なくとも${sum}（${count(uncounted)}日分は未集計）`;
  },
  observed: (events) => ['観測された件数：', events, '。'],
  matching: (events) => ['絞り込みに一致する件数：', events, '。'],
  eventsExplained:
    'これらはイベントです。付与されたラベルは、観測されないまま解除されたり、期限が切れたりしている可能性があります。ある種類が観測されなかったことは、それが存在しないことを意味しません。',
  answer: {
    heading: 'ラベラーと値の別',
    skip: '表をスキップ',
    caption: (events) =>
      `${events}（ラベラーと値の別）。棒はラベラーごとの件数を比べます。値のリンクは、その値の観測だけを表示します。`,
    columns: { name: 'ラベラーと値', span: '最初と最後' },
    allValues: 'すべての値',
    onlyLabeler: 'このラベラーだけを表示',
    moreValues: (n) => `観測がより少ない${count(n)}個の値は、ここに挙げていません。`,
    missed: (missing) => `この期間に観測されなかった時間：${missing}。`,
    noneMissed: 'この期間に、このラベラーが観測されなかった時間は記録されていません。',
    daysOnly: 'このページが観測をすべては挙げていない場合は、UTCの日付だけを示します。',
  },
  ofSubject: (n) => `このリストに${count(n)}件の観測`,
  earlierOfSubject: (n) => `この対象について、このリストにある以前の観測${count(n)}件`,
  target: { account: 'アカウント自体', post: '投稿', record: 'その他のレコード' },
  notObserved: '未観測',
  notAllCounted: '一部未集計',
  intervalNotObserved: 'この期間は観測されていません。',
  noneOfPart: 'この期間に観測されたイベントはありません。',
  noneOfPartBefore: 'この期間のこの位置より前に観測されたイベントはありません。',
  noneOfPartYet: 'まだ見つかっていません。これより古い観測はまだ読み取られていません。',
  more: ({ shown, newest, total }) => {
    const of = total === null ? '' : `${count(total)}件の観測のうち、`;
    const part =
      shown === 0 ? '表示しているものはありません' : `${newest ? '最新の' : '次の'}${count(shown)}件を表示しています`;
    return `${of}${part}。このリストは完全ではありません。`;
  },
  older: 'これより古い観測',
  olderOf: { account: '（アカウント自体）', post: '（投稿）', record: '（その他のレコード）' },
  or: 'または',
  onlyThese: 'これだけを新しい順に表示',

  action: { application_observed: '付与', removal_observed: '解除' },
  by: (labeler) => ['ラベラー：', labeler],
  claimed: '（自称、未確認）',
  noDefinition: 'このラベラーによるこの値の定義は観測されていません。',
  globalMeaning: (meaning) => `ラベラーによる定義が観測されていないため、一般的な意味を示します：${meaning}`,
  emptyValue: '空の値',
  accountItself: 'アカウント自体',
  collection: 'コレクション',
  version: 'バージョン',
  observedAt: '観測時刻（Almanacの時計）',
  authored: '作成時刻（ラベラーの記載）',
  expires: '有効期限（ラベラーの記載）',
  signature: '署名',
  verdict: {
    verified: 'ラベラーの鍵で検証済み',
    verified_earlier_key: 'ラベラーの以前の鍵で検証済み',
    invalid: 'ラベラーの既知の鍵のいずれとも一致しない',
    unsigned: '署名なし',
    unverified: '検証できません（鍵が見つからないか、古い可能性のある鍵しかない）',
  },
  profileLink: 'bsky.app のプロフィール（Almanacの外へ移動します）',
  queryLink: 'ラベラー自身の現在の回答（Almanacの外へ移動し、どのアカウントについて尋ねたかがラベラーに伝わります）',
  disagree: 'ラベルに納得できない場合',
  appealsSimulated:
    'このアカウントはシミュレーションのものなので、異議申し立てはできません。実際のネットワークのアカウントでは次のとおりです。',
  appeals:
    'Almanacはラベルを変更することも取り除くこともできません。Blueskyアプリにログインし、自分のプロフィールまたは投稿を開いてください。アプリがあなたのために使っているラベラーのラベルが付いている場合、その数を示すボタンがあります。ボタンを押すと一覧が開き、ラベルごとに異議を申し立てることができます。申し立ては、そのラベルを付けたラベラーに送られ、そのラベラーだけが判断します。「!」で始まる値は一覧に表示されないため、ラベラーに直接問い合わせてください。',

  coverage: '観測されなかったもの',
  removedBefore: (at, missing) =>
    `${at} より前の観測は消去されました。この期間の最初の部分（${missing}）がありません。`,
  beganOn: (at, missing) => `観測は ${at} に始まりました。それより前（${missing}）には何も観測されていません。`,
  nothingYet: 'まだどのラベラーからもページを受信していません。これまでに何も観測されていません。',
  silentSince: (at) => `${at} 以降、どのラベラーからも何も届いていません。それより後のイベントは不明です。`,
  lastPage: (at) => `ラベラーから最後にページを受信したのは ${at} です。`,
  noInterruption: 'この期間に、Almanacの中断は記録されていません。',
  interrupted: (times, missing) =>
    `この期間に、Almanacは${count(times)}回中断しました（合計${missing}）。その間は何も観測されていません。`,
  read: (read, all, past) =>
    past
      ? `Almanacが最後に何かを受信した時点で、追跡している${count(all)}のラベラーのうち${count(read)}が、それぞれ最後に保存された位置から読み取られていました。`
      : `Almanacが追跡している${count(all)}のラベラーのうち${count(read)}が、それぞれ最後に保存された位置から読み取られています。`,
  others: (states) => `残りのラベラーについては、ラベルの一部がここにない可能性があります（${states}）。`,
  stateCount: (n, state) => `${state}：${count(n)}`,
  notEnrolled: (n, past) =>
    `${count(n)}の既知のラベラーは、まったく読み取られて${past ? 'いませんでした' : 'いません'}。`,
  missed: (n, longest, others) =>
    `${others ? '下に挙げていない' : ''}${count(n)}のラベラーは、この期間の全部または一部で観測されませんでした（${n === 1 ? '' : '最長のもので'}合計${longest}）。その間に付与または解除されたラベルは不明です。該当するラベラーはエクスポートに記載されています。`,
  betweenReads: '2回の読み取りの間に付与され解除されたラベルや、ラベラーが公開しないラベルは観測されません。',
  purged: (n, day) => `運営者の求めにより、${count(n)}のラベラーの行が消去されました。最後の消去は ${day} です。`,
  purging: (n, day) => `運営者の求めにより、${day} から${count(n)}のラベラーの行を消去しています。`,
  spaces: (n, day) =>
    `レコードが公開されていないスペース内の対象に対するラベル${count(n)}件が${day === null ? 'これまでに消去されました（未完了）' : ` ${day} までに消去されました`}。以前のバージョンが受け付けていたものです。`,
  interruptions: 'Almanacの中断',
  labelers: 'これらの観測のラベラー',
  labelerAsked: '指定されたラベラー',
  moreLabelers: (n) => `観測がより少ない${count(n)}のラベラーは、ここに挙げていません。`,
  unread: {
    never_read: 'このラベラーは一度も読み取られていません。付与または解除したラベルは不明です。',
    not_known: 'このラベラーは知られていません。付与または解除したラベルは不明です。',
  },
  sums: ({ applied, removed }, uncounted) =>
    `この期間に${uncounted > 0 ? '少なくとも' : ''}付与${count(applied)}件、解除${count(removed)}件（絞り込みに関係なく）。`,
  notReadNow: '現在は読み取られていません。',
  state: (state) => `状態：${state}。`,
  statePast: (state) => `Almanacが最後に何かを受信した時点の状態：${state}。`,
  states: {
    established: {
      now: { other: '最後に保存された位置から読み取り中' },
      past: { other: '最後に保存された位置から読み取り中' },
    },
    unstarted: { now: { other: '未問い合わせ' }, past: { other: '未問い合わせ' } },
    probing: { now: { other: '試行中' }, past: { other: '試行中' } },
    refused: { now: { other: '読み取りを拒否' }, past: { other: '読み取りを拒否' } },
    cursor_order_unverified: { now: { other: '順序が未確認の読み取り' }, past: { other: '順序が未確認の読み取り' } },
    undated_only: { now: { other: '日付のないラベルのみ' }, past: { other: '日付のないラベルのみ' } },
    provider_rejects: { now: { other: '提供元が拒否' }, past: { other: '提供元が拒否' } },
    unavailable: { now: { other: '応答なし' }, past: { other: '応答なし' } },
    unknown: { now: { other: '状態不明' }, past: { other: '状態不明' } },
  },
  lastReadUnknown: '最後に応答した時刻は不明です。',
  lastRead: (at) => ['最後に読み取りに成功した時刻：', at, '。'],
  noOwnGap: 'この期間に、このラベラー固有の欠落は記録されていません。欠落がなかったことの証明ではありません。',
  ownGaps: (n, missing) => `固有の欠落：${count(n)}件、合計${missing}。`,
  itsGaps: 'このラベラーの欠落',
  gap: (from, to, missing, reason) => [from, ' ～ ', to, `（${missing}）：${reason}`],
  earlierGaps: (n) => `さらに以前の欠落が${count(n)}件`,
  reason: {
    not_observed: '未観測',
    source_unavailable: 'ラベラーに接続できなかったか、読み取りの対象外だった',
    ingest_paused: 'Almanacの中断',
    cursor_reset: 'ラベラーのストリームでのAlmanacの位置が失われた',
    maintenance: 'Almanacの保守、または運営者による観測の消去',
    warmup: '観測開始前',
    unknown: '理由不明',
  },

  byDay: '日別',
  chartTop: (highest) => `1日あたりの観測数。最も高い棒は${highest}`,
  chartSummary: (summary) => `日ごとの棒グラフ。${summary}下の表に同じデータを数値で示します。`,
  legend: {
    up: '付与（線の上）',
    down: '解除（線の下）',
    unseen: '未観測',
    part: '一部未観測',
    uncounted: '未集計',
  },
  asTable: '同じデータの表',
  captionUnseen: '未観測（Almanacの時計によるUTCの日別）',
  caption: (events) => `${events}（Almanacの時計によるUTCの日別）`,
  columns: { day: '日', applied: '付与', removed: '解除', unseen: '未観測' },
  notCounted: '未集計',
  partOfDay: (from, until) => `（${from === null ? '' : `${from}から`}${until === null ? '' : `${until}まで`}）`,
  allOfIt: '終日',
  someLabelers: (missing) => `一部のラベラー：${missing}`,
  dayCounts: (applied, removed) => `付与${count(applied)}件、解除${count(removed)}件`,
  dayMissed: (counts, missing) => `${counts}。未観測：${missing}`,
  nothingObserved: (from, to) => `${from} から ${to} までは何も観測されていません。この間のイベントは不明です。`,
  noObservation: (from, to) => `${from} から ${to} までに観測はありません。`,
  noMatch: (from, to) => `${from} から ${to} までに、絞り込みに一致する観測はありません。`,
  noneCounted: (from, to) => `${from} から ${to} までに集計された観測はありません。`,
  observedBetween: ({ applied, removed }, from, to) =>
    `${from} から ${to} までに、付与${count(applied)}件、解除${count(removed)}件。`,
  partMissed: (missing) => `このうち${missing}は観測されていません。この間のイベントは不明です。`,
  daysUncounted: (n) => `${count(n)}日分は行が多すぎて集計できず、この合計に含まれていません。`,

  download: 'すべてダウンロード',
  tooManyDownloads: (link) => [
    '行が多すぎるため、ここにダウンロードを挙げることができません。',
    link('エクスポート'),
    'を要求してください。収まる期間の一覧が返され、それらを合わせるとこの期間全体になります。',
  ],
  wholeDownload: (link, filtered) => [
    link('JSONでダウンロード'),
    `：${filtered ? '絞り込みに一致する' : ''}この期間のすべての行と、その観測範囲およびダイジェスト。`,
  ],
  partDownloads: (n, filtered) =>
    `${count(n)}行は1回のダウンロードには多すぎます。次の部分を合わせると全体になります${filtered ? '（絞り込みにより、実際の行数は少なくなります）' : ''}。`,
  range: (from, to) => `${from} ～ ${to}`,
  rows: (n) => `${count(n)}行`,
  downloadsExpire: (link, command) => [
    'ダウンロードのリンクは数分で無効になります。新しいリンクは、このページを再読み込みすると得られます。プログラムは、同じデータを',
    link('この検索のエクスポート'),
    'または ',
    command,
    ' でページごとに読み取れます。行は、削除されたアカウントのものも含め、30日間表示され、サービスの稼働中は33日以内に消去されます。',
  ],
};
