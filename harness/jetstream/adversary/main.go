// Command adversary serves the network of Jetstream's simulator with the
// adversarial traffic that the simulator offers only to its own tests. The
// simulator's packages are internal, so the command is built in a checkout of
// github.com/bluesky-social/jetstream, as cmd/adversary.
package main

import (
	"context"
	"flag"
	"log"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/bluesky-social/jetstream/internal/simulator/fanout"
	simhttp "github.com/bluesky-social/jetstream/internal/simulator/http"
	"github.com/bluesky-social/jetstream/internal/simulator/world"
)

func main() {
	config := world.DefaultConfig()
	flags := flag.NewFlagSet("adversary", flag.ExitOnError)
	addr := flags.String("addr", "127.0.0.1:7777", "address to listen on")
	adversity := flags.Float64("adversity", 5, "adversarial frames per second")
	flags.StringVar(&config.DataDir, "data-dir", config.DataDir, "directory of the network")
	flags.IntVar(&config.Accounts, "accounts", 100, "number of accounts")
	flags.Float64Var(&config.CommitsPerSec, "commits-per-sec", config.CommitsPerSec, "honest events per second")
	flags.IntVar(&config.FirehoseHistory, "firehose-history", config.FirehoseHistory, "frames kept for replay")
	if err := flags.Parse(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
	config.InitialRecords = 5
	ctx := context.Background()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	w, err := world.New(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := w.EnsureSeed(); err != nil {
		log.Fatal(err)
	}
	if err := w.Bootstrap(ctx, logger); err != nil {
		log.Fatal(err)
	}
	if err := w.AttachRuntime(rand.New(rand.NewPCG(config.Seed, 1)), fanout.New(1024)); err != nil {
		log.Fatal(err)
	}
	go attack(ctx, w, config, *adversity)
	go func() { log.Fatal(w.RunTraffic(ctx, logger)) }()
	log.Fatal(http.ListenAndServe(*addr, simhttp.NewHandler(w, "http://"+*addr)))
}

// badKeys are record paths that the specification does not allow, with the
// reason for which Jetstream drops them.
var badKeys = []struct{ key, reason string }{
	{"nosslash", "invalid_collection"},
	{"not-an-nsid/3jzfcijpj2z2a", "invalid_collection"},
	{"app.bsky.feed.post/.", "invalid_rkey"},
	{"app.bsky.feed.post/..", "invalid_rkey"},
	{"app.bsky.feed.like/with space", "invalid_rkey"},
}

// attack sends adversarial frames of all kinds in turn. A generator that
// refuses an account is tried again with another one.
func attack(ctx context.Context, w *world.World, config world.Config, perSecond float64) {
	rng := rand.New(rand.NewPCG(config.Seed, 2))
	statuses := []string{"takendown", "suspended", "deactivated", "throttled"}
	for n := 0; ; n++ {
		time.Sleep(time.Duration(rng.ExpFloat64() / perSecond * float64(time.Second)))
		idx := rng.IntN(config.Accounts)
		var err error
		switch n % 9 {
		case 0:
			bad := badKeys[rng.IntN(len(badKeys))]
			_, err = w.GenerateAdversarialOpForTest(ctx, idx, bad.key, bad.reason)
		case 1:
			_, err = w.GenerateAdversarialSyncForTest(ctx, idx, "not-a-tid")
		case 2:
			_, err = w.GenerateVerifierRejectedCommitForTest(ctx, idx, "not-a-tid", "non_tid_rev")
		case 3:
			_, err = w.GenerateMalformedIdentityForTest(ctx)
		case 4:
			_, err = w.GenerateAccountStatusForTest(ctx, idx, false, statuses[rng.IntN(len(statuses))])
		case 5:
			_, err = w.GenerateAccountStatusForTest(ctx, idx, true, "")
		case 6:
			_, err = w.GenerateSilentMutationThenSyncForTest(ctx, idx)
		case 7:
			_, err = w.GenerateSilentMutationThenCommitForTest(ctx, idx)
		case 8:
			_, err = w.GenerateIdentityForTest(ctx, idx, true)
		}
		if err != nil {
			log.Printf("kind %d of account %d: %v", n%9, idx, err)
		}
	}
}
