package usage

import (
	"cmp"
	"time"
)

// instant is a point of the time line in 16 bytes, without a zone.
type instant struct {
	sec  int64 // Unix time
	nsec int32
}

func instantOf(t time.Time) instant {
	return instant{t.Unix(), int32(t.Nanosecond())} //nolint:gosec // below 10^9
}

func (i instant) time() time.Time { return time.Unix(i.sec, int64(i.nsec)).UTC() }

func (i instant) add(d time.Duration) instant { return instantOf(i.time().Add(d)) }

func (i instant) compare(j instant) int {
	if i.sec != j.sec {
		return cmp.Compare(i.sec, j.sec)
	}
	return cmp.Compare(i.nsec, j.nsec)
}

func (i instant) before(j instant) bool {
	return i.sec < j.sec || i.sec == j.sec && i.nsec < j.nsec
}
