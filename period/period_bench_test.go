package period_test

import (
	"testing"
	"time"

	"github.com/bursar-dev/bursar/period"
)

// Each benchmark gives its figure also as a ratio to its floor or its naive twin,
// measured in the same run: "x-bare" 2 means twice the time of the bare twin.

var (
	sinkWindow period.Window
	sinkBool   bool
	sinkTime   time.Time
	sinkErr    error
)

// against reports the time of mine as a ratio to that of its twin. Both take
// turns, many times, and the fastest turn of each counts: what else the machine
// does meanwhile falls on either.
func against(b *testing.B, name string, mine, twin func(rounds int)) {
	b.Helper()
	if b.N == 1 {
		return // nothing to be seen
	}
	const turns, rounds = 50, 2000
	fastest := [2]time.Duration{1<<63 - 1, 1<<63 - 1}
	for range turns {
		for i, run := range [...]func(int){mine, twin} {
			begin := time.Now()
			run(rounds)
			fastest[i] = min(fastest[i], time.Since(begin))
		}
	}
	b.ReportMetric(float64(fastest[0])/float64(fastest[1]), "x-"+name)
}

// instants are a year of them, the same for a benchmark and its twin.
func instants() [1024]time.Time {
	var all [1024]time.Time
	for i := range all {
		all[i] = time.Unix(1767225600+int64(i)*30000, 0)
	}
	return all
}

// BenchmarkCursor is the check of a hot path against the two comparisons that
// nobody can do without. Who copies the window about pays for its 56 bytes.
func BenchmarkCursor(b *testing.B) {
	p := compile(b, daily("America/New_York"))
	cursor := period.NewCursor(p)
	now := time.Unix(1781524800, 5)
	w, err := cursor.At(now)
	if err != nil {
		b.Fatal(err)
	}
	ask := func(rounds int) {
		for range rounds {
			_, err := cursor.At(now)
			sinkBool = err == nil
		}
	}
	start, end := w.Start.Unix(), w.End.Unix()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cursor.At(now); err != nil {
			b.Fatal(err)
		}
	}
	against(b, "bare", ask, func(rounds int) {
		for range rounds {
			u := now.Unix()
			sinkBool = start <= u && u < end
		}
	})
}

// BenchmarkCursorParallel shares one Cursor among all processors.
func BenchmarkCursorParallel(b *testing.B) {
	cursor := period.NewCursor(compile(b, daily("America/New_York")))
	now := time.Unix(1781524800, 5)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := cursor.At(now); err != nil {
				b.Error(err)
			}
		}
	})
}

// asking asks for exact windows, one after another.
func asking(p *period.Period) func(rounds int) {
	all := instants()
	return func(rounds int) {
		for i := range rounds {
			sinkWindow, sinkErr = p.At(all[i%len(all)])
		}
	}
}

// midnights is the naive day, by time.Date and AddDate.
func midnights(now time.Time, zone *time.Location) period.Window {
	y, m, d := now.In(zone).Date()
	start := time.Date(y, m, d, 0, 0, 0, 0, zone)
	return period.Window{Start: start, End: start.AddDate(0, 0, 1)}
}

// BenchmarkDaily is the exact window against the two time.Date that most would
// write, which are wrong where a midnight does not exist.
func BenchmarkDaily(b *testing.B) {
	for _, name := range []string{"UTC", "Asia/Kolkata", "America/New_York"} {
		b.Run(name, func(b *testing.B) {
			p := compile(b, daily(name))
			zone, err := pinnedZone(name)
			if err != nil {
				b.Fatal(err)
			}
			all := instants()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				sinkWindow, sinkErr = p.At(all[i%len(all)])
			}
			against(b, "date", asking(p), func(rounds int) {
				for i := range rounds {
					sinkWindow = midnights(all[i%len(all)], zone)
				}
			})
		})
	}
}

// BenchmarkDailyAgainstLoadLocation has a twin that loads its zone at every call.
func BenchmarkDailyAgainstLoadLocation(b *testing.B) {
	p := compile(b, daily("America/New_York"))
	all := instants()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		sinkWindow, sinkErr = p.At(all[i%len(all)])
	}
	against(b, "load", asking(p), func(rounds int) {
		for i := range rounds {
			zone, err := time.LoadLocation("America/New_York")
			if err != nil {
				b.Fatal(err)
			}
			sinkWindow = midnights(all[i%len(all)], zone)
		}
	})
}

// BenchmarkAt is the exact window of every kind.
func BenchmarkAt(b *testing.B) {
	for _, spec := range everyKind(b) {
		if spec.Type == period.FirstUse {
			continue
		}
		b.Run(string(spec.Type), func(b *testing.B) {
			p := compile(b, spec)
			all := instants()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				sinkWindow, sinkErr = p.At(all[i%len(all)])
			}
		})
	}
}

// BenchmarkResume is a question within the stored window.
func BenchmarkResume(b *testing.B) {
	p := compile(b, daily("America/New_York"))
	now := time.Unix(1781524800, 5)
	prev, err := p.At(now)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		sinkWindow, sinkErr = p.Resume(prev, now)
	}
}

// BenchmarkCompile is what a webhook pays for a spec.
func BenchmarkCompile(b *testing.B) {
	spec := daily("America/New_York")
	b.ReportAllocs()
	for b.Loop() {
		p, err := period.Compile(spec)
		if err != nil {
			b.Fatal(err)
		}
		sinkTime, sinkErr = p.Next(time.Unix(1781524800, 5))
	}
}

// BenchmarkLongest walks a zone that changes its clock thrice or more a year.
func BenchmarkLongest(b *testing.B) {
	p := compile(b, period.Spec{Type: period.Monthly, Timezone: "America/New_York", DayOfMonth: new(int32(31))})
	for b.Loop() {
		_, sinkBool = p.Longest()
	}
}
