package controller_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/utils/clock"

	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// fast is a clock on which time runs faster than on the system's.
type fast struct {
	clock.RealClock

	begin, real time.Time
	speed       int64
}

func (c *fast) Now() time.Time {
	return c.begin.Add(time.Duration(int64(time.Since(c.real)) * c.speed))
}
func (c *fast) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c *fast) After(d time.Duration) <-chan time.Time {
	return c.RealClock.After(d / time.Duration(c.speed))
}
func (c *fast) NewTimer(d time.Duration) clock.Timer {
	return fastTimer{c.RealClock.NewTimer(d / time.Duration(c.speed)), time.Duration(c.speed)}
}

type fastTimer struct {
	clock.Timer

	speed time.Duration
}

func (t fastTimer) Reset(d time.Duration) bool { return t.Timer.Reset(d / t.speed) }

// TestA2_A13_A18_DaysInFastMotion plays days of 12 s: at each midnight of the budget's zone the status begins anew and the task
// that waits starts, by the clock alone.
func TestA2_A13_A18_DaysInFastMotion(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Asia/Kathmandu") // midnight at 18:15 UTC
	must(t, err)
	w := newWorld(t, &fast{begin: time.Date(2026, 3, 1, 12, 0, 0, 0, zone), real: time.Now(), speed: 2 * 3600})
	w.budget("daily", "1", gold, func(s *budgetv1alpha1.TaskBudgetSpec) { s.Period.Timezone = "Asia/Kathmandu" })
	r := w.start(settings{})
	const days = 3
	w.task("task-1", "0.9", gold)
	before := w.awaitRunning("task-1")
	w.finish("task-1", "1")
	w.awaitRecord(before)
	for i := 2; i <= days; i++ {
		name := fmt.Sprintf("task-%d", i)
		completed := w.get(before.Name).Status.CompletionTime.In(zone)
		midnight := time.Date(completed.Year(), completed.Month(), completed.Day()+1, 0, 0, 0, 0, zone)
		w.task(name, "0.9", gold)
		task := w.awaitRunning(name)
		if late := task.Status.StartTime.Sub(midnight); late < -time.Second || late >= 24*time.Hour { // times are stored in whole seconds
			t.Errorf("%s starts at %v, the window begins at %v", name, task.Status.StartTime, midnight)
		} else {
			t.Logf("%s starts %v after midnight, which is %v for who watches", name, late, late/(2*3600))
		}
		status := w.awaitStatus("daily", "has a new window", func(s budgetv1alpha1.TaskBudgetStatus) bool {
			return s.PeriodStart != nil && s.PeriodStart.Time.Equal(midnight) && s.PeriodEnd.Time.Equal(midnight.Add(24*time.Hour)) &&
				s.Display != nil && s.Display.Held == "0.9"
		})
		if status.Display.Used != "0" {
			t.Errorf("the new day begins with %s used", status.Display.Used)
		}
		w.finish(name, "1")
		w.awaitRecord(task)
		before = task
	}
	if n := r.metric(t, "bursar_admissions_total", "admitted"); n < days { // more where a task was asked about again
		t.Errorf("%v answers that admit, want %d", n, days)
	}
}
