package fastclock_test

import (
	"testing"
	"time"

	"github.com/bursar-dev/bursar/examples/taskcontroller/fastclock"
)

var begin = time.Date(2026, 3, 9, 6, 0, 0, 0, time.UTC)

func TestAnHourPassesInThirtySixMilliseconds(t *testing.T) {
	t.Parallel()
	c := fastclock.New(begin, 100_000)
	timer := c.NewTimer(time.Hour)
	start := time.Now()
	<-timer.C()
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v of the system's time", took)
	}
	if passed := c.Since(begin); passed < time.Hour {
		t.Errorf("%v have passed, want an hour at least", passed)
	}
	timer.Reset(time.Hour)
	<-timer.C()
	<-c.After(0)
	<-c.Tick(time.Minute)
	c.Sleep(time.Hour)
	if passed := c.Since(begin); passed < 3*time.Hour {
		t.Errorf("%v have passed, want three hours at least", passed)
	}
	if c.NewTimer(1e6*time.Hour).Stop() == false {
		t.Error("a timer that was stopped had fired")
	}
}

func TestAClockNeverStandsStillNorGoesBack(t *testing.T) {
	t.Parallel()
	for _, speed := range []int{-1, 0, 1} {
		c := fastclock.New(begin, speed)
		if now := c.Now(); now.Before(begin) || now.After(begin.Add(time.Minute)) {
			t.Errorf("speed %d: it shows %v", speed, now)
		}
		<-c.After(time.Nanosecond)
	}
}
