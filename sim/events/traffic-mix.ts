/**
 * Counts of a survey of live traffic, used as the weights of the generated traffic. The survey covers 198,250 frames
 * over 600 s on 2026-08-08. The weatherwatch project published it (measurements/survey.json).
 */

/** Mean number of unfiltered events per second in the survey. */
export const surveyRate = 330.4;

/** Number of commits by collection and operation. */
export const commitWeights: Readonly<
  Record<string, Readonly<Partial<Record<'create' | 'update' | 'delete', number>>>>
> = {
  'app.bsky.feed.like': { create: 128_297, delete: 1573 },
  'app.bsky.feed.post': { create: 22_590, delete: 1366, update: 21 },
  'app.bsky.feed.repost': { create: 20_418, delete: 654 },
  'app.bsky.graph.follow': { create: 14_173, delete: 2040 },
  'app.bsky.graph.block': { create: 2213, delete: 98 },
  'app.bsky.feed.threadgate': { create: 1401, update: 8 },
  'app.bsky.feed.postgate': { create: 733 },
  'app.bsky.actor.profile': { create: 129, update: 502 },
  'app.bsky.actor.status': { create: 45, delete: 48, update: 59 },
  'app.bsky.graph.listitem': { create: 197, delete: 30 },
  'app.bsky.graph.list': { create: 5 },
  'app.bsky.graph.listblock': { create: 7 },
  'app.bsky.labeler.service': { update: 8 },
  'is.currents.feed.save': { create: 267 },
  'at.podping.records.podping': { create: 119 },
  'dev.sensorthings.observationBatch': { update: 119 },
  'site.standard.document': { create: 101, update: 11 },
  'place.stream.livestream': { update: 82 },
  'place.stream.broadcast.origin': { update: 80 },
  'tech.transparencia.news.article': { create: 56 },
  'link.bridgebeats.lookup': { create: 6, update: 37 },
  'is.currents.feed.collection': { create: 32 },
  'fm.teal.alpha.feed.play': { create: 29 },
  'fm.teal.alpha.actor.status': { update: 27 },
  'com.puzzmo.streak': { update: 29 },
  'wtf.cee.topchicken.order': { create: 29 },
  'wtf.cee.topchicken.execution': { create: 12 },
  'ai.afrilingua.feed.content': { create: 25 },
  'app.rocksky.scrobble': { create: 19 },
  'app.studynext.task': { update: 19 },
  'app.studynext.tasks': { update: 10 },
  'cx.vmx.matadisco': { create: 14 },
  'social.coves.community.post': { update: 11 },
  'at.adsb.flight.record': { create: 7 },
  'at.adsb.receiver.sighting': { create: 9 },
  'net.atmowx.observation': { create: 8 },
  'chat.bsky.actor.declaration': { create: 7 },
  'org.hypercerts.claim.activity': { create: 5, delete: 5, update: 5 },
  // Stands for all collections that the survey does not name.
  'com.example.notebook.entry': { create: 131 },
};

/** Number of account events by activity and status. */
export const accountWeights = [
  { active: true, status: null, weight: 131 },
  { active: false, status: 'deleted', weight: 19 },
  { active: false, status: 'takendown', weight: 15 },
  { active: false, status: 'deactivated', weight: 14 },
] as const;

/** Number of identity events. */
export const identityWeight = 145;

/** Share of posts with each kind of content. */
export const postShares = {
  reply: 10_866 / 22_611,
  facets: 5317 / 22_611,
  embeds: {
    images: 3518 / 22_611,
    external: 3155 / 22_611,
    record: 1323 / 22_611,
    video: 438 / 22_611,
    recordWithMedia: 213 / 22_611,
    gallery: 48 / 22_611,
  },
} as const;
