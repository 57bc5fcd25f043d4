package period_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
)

func TestACursorAnswersLikeItsPeriod(t *testing.T) {
	zones := zoneNames(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := compile(rt, drawSpec(rt, zones))
		cursor := period.NewCursor(p)
		now := drawNow(rt, "now")
		for range rapid.IntRange(1, 20).Draw(rt, "questions") {
			got, err := cursor.At(now)
			if want := at(rt, p, now); got != want || err != nil {
				rt.Fatalf("%s at %s: %s, %v, want %s", p, now, got, err, want)
			}
			now = now.Add(time.Duration(rapid.Int64Range(int64(-40*time.Hour), int64(40*time.Hour)).Draw(rt, "later")))
		}
	})
}

func TestACursorAnswersLikeItsPeriodAtTheEdgesOfTheYears(t *testing.T) {
	edges := []time.Time{
		{}, time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600)),
		time.Date(9998, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Unix(-1<<63, 0), time.Unix(1<<63-1, 0),
	}
	for _, spec := range everyKind(t) {
		p := compile(t, spec)
		cursor := period.NewCursor(p)
		for range 2 {
			for _, now := range edges {
				got, err := cursor.At(now)
				want, wantErr := p.At(now)
				if got != want || (err == nil) != (wantErr == nil) {
					t.Errorf("%s at %s: %s, %v, want %s, %v", p, now, got, err, want, wantErr)
				}
			}
		}
	}
}

// A late instant computes its window and leaves the live one where it is: else
// each of the two questions would store a window, which allocates.
func TestALateInstantDoesNotEvictTheLiveWindow(t *testing.T) {
	now := instant(t, "2026-03-08T12:00:00Z")
	for _, spec := range everyKind(t)[:8] {
		cursor := period.NewCursor(compile(t, spec))
		late := now.AddDate(-2, 0, 0)
		for _, at := range []time.Time{late, now} {
			if _, err := cursor.At(at); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(100, func() {
			_, _ = cursor.At(late)
			_, _ = cursor.At(now)
		}); n != 0 {
			t.Errorf("%s: %v allocations", cursor.Period(), n)
		}
	}
}

func TestACursorIsSafeForConcurrentUse(t *testing.T) {
	base := instant(t, "2026-03-07T00:00:00Z").Unix()
	for _, spec := range everyKind(t) {
		p := compile(t, spec)
		cursor := period.NewCursor(p)
		if cursor.Period() != p {
			t.Fatal("the cursor has another period")
		}
		var group sync.WaitGroup
		for seed := range uint64(8) {
			group.Go(func() {
				random := rand.New(rand.NewPCG(seed, 1))
				for i := range int64(300) {
					// the present moves on, with late and future instants between
					u := base + i*900
					if random.IntN(4) == 0 {
						u += random.Int64N(120*86400) - 60*86400
					}
					now := time.Unix(u, random.Int64N(1e9))
					got, err := cursor.At(now)
					want, wantErr := p.At(now)
					if got != want || (err == nil) != (wantErr == nil) {
						t.Errorf("%s at %s: %s, %v, want %s, %v", p, now, got, err, want, wantErr)
						return
					}
				}
			})
		}
		group.Wait()
	}
	if (*period.Cursor)(nil).Period() != nil {
		t.Error("a nil Cursor has a period")
	}
}
