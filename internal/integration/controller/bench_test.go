package controller_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

// BenchmarkAdmission admits tasks end to end, the stored hold included, beside records that are stored already. Neither the time
// nor the calls of an admission grow with their number.
func BenchmarkAdmission(b *testing.B) {
	for _, records := range []int{0, 10_000, 100_000} {
		b.Run(fmt.Sprintf("records=%d", records), func(b *testing.B) {
			w := newWorld(b, clock.RealClock{})
			w.budget("daily", "1000000", gold)
			w.storeRecords(records)
			m := newMeter()
			r := w.start(settings{idle: true, wrap: m.wrap})
			w.awaitStatus("daily", "counts all records", func(s budgetv1alpha1.TaskBudgetStatus) bool {
				return s.Display != nil && s.Display.Used == usage.CostUSD.Format(int64(records)*usage.USD/1000)
			})
			n := 0
			calls := map[string]int{}
			for b.Loop() {
				b.StopTimer()
				n++
				task := w.task(fmt.Sprintf("task-%06d", n), "0.5", gold)
				m.seen()
				b.StartTimer()
				answer, err := r.gate.Admit(b.Context(), task)
				b.StopTimer()
				if err != nil || !answer.Admitted {
					b.Fatalf("%s, %v", answer.Decision.Message(), err)
				}
				for call, count := range m.seen() {
					if !strings.Contains(call, "TaskBudget") { // its status is written at its own pace
						calls[call] += count
					}
				}
				b.StartTimer()
			}
			sum := 0
			for _, count := range calls {
				sum += count
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "admissions/s")
			b.ReportMetric(float64(sum)/float64(n), "calls/admission")
		})
	}
}

// storeRecords stores records of a thousandth of a dollar each.
func (w *world) storeRecords(n int) {
	w.t.Helper()
	next := make(chan int)
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			for i := range next {
				name := fmt.Sprintf("record-%06d", i)
				record, err := usage.RecordUsage(usage.Completion{
					Task:  usage.Task{UID: types.UID(name), Namespace: w.namespace, Name: name},
					Phase: usage.Succeeded, Labels: gold, CompletionTime: w.clock.Now(), Results: map[string]string{"cost-usd": "0.001"},
				})
				if err == nil {
					err = shared.Client.Create(w.t.Context(), budget.NewTaskRecord(record))
				}
				if err != nil {
					w.t.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}
