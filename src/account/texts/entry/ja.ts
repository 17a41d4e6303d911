import { formatsOf } from '../../../web/language/formats.ts';
import type { EntryTexts } from './en.ts';

const { counted } = formatsOf('ja');

const did = 'did:plc: に続く24文字（英小文字a～zと数字2～7）、または did:web: に続くホスト名';

/** Japanese texts of the page frame, the forms, the home page and the error pages. */
export const entryJa: EntryTexts = {
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
    'アーカイブではありません。行は、削除されたアカウントのものも含め、30日後に消去されます。',
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
    failed: '現在、このハンドルを解決できません。もう一度試すか、DIDを入力してください。',
    neither: `これはハンドルでもDIDでもありません。ハンドルは alice.bsky.social のような形で、DIDは ${did}です。`,
    did_only: `このサービスはハンドルを解決しません。アカウントのDIDを入力してください：${did}。`,
  },
};
