package demo

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// The resources that are shown.
const (
	budgets   = "bursar.dev/v1alpha1/taskbudgets"
	agents    = "example.bursar.dev/v1alpha1/agenttasks"
	producers = "example.bursar.dev/v1alpha1/taskproducers"
)

// A shot prints something that kubectl shows.
type shot func(ctx context.Context, text *bytes.Buffer) error

// watch prints what there is to see, in the order in which it happens.
func (d *day) watch(ctx context.Context) error {
	if _, err := fmt.Fprintf(d.out, "A day of tasks; an hour takes %v. The budgets and the producers are in examples/taskcontroller/manifests/day.yaml.\n", hour); err != nil {
		return err
	}
	for _, scene := range []struct {
		title string
		ready func(waiting int, used []string) bool
		show  []shot
	}{
		{"the day begins", func(int, []string) bool { return true }, []shot{d.budgets}},
		{"tasks wait", func(waiting int, _ []string) bool { return waiting >= 5 }, []shot{d.budgets, d.waiting}},
		{
			"the end of the day", func(int, []string) bool { return d.clock.Now().After(midnight().Add(-20 * time.Minute)) },
			[]shot{d.budgets, d.producers},
		},
		{
			"a new day: the budgets are reset, and tasks that waited have started by themselves",
			func(_ int, used []string) bool { // and the first of them has finished: platform-daily is for all
				return d.clock.Now().After(midnight().Add(90*time.Minute)) && used[0] != "0"
			},
			[]shot{d.budgets, d.waiting},
		},
	} {
		if err := d.await(ctx, scene.ready); err != nil {
			return fmt.Errorf("%s: %w", scene.title, err)
		}
		text := &bytes.Buffer{}
		fmt.Fprintf(text, "\n%s: %s\n", d.clock.Now().Format("Mon 15:04"), scene.title)
		for _, show := range scene.show {
			if err := show(ctx, text); err != nil {
				return err
			}
		}
		if _, err := text.WriteTo(d.out); err != nil {
			return err
		}
	}
	return nil
}

func midnight() time.Time { return morning.Truncate(24 * time.Hour).Add(24 * time.Hour) }

// await looks at the tasks until the budgets are observed and the scene is there: as many tasks wait, and that is what each
// budget shows as used.
func (d *day) await(ctx context.Context, ready func(waiting int, used []string) bool) error {
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		state, err := d.tables.get(ctx, budgets)
		if err != nil {
			return false, err
		}
		if !d.observed(column(state, "Resets")) {
			return false, nil
		}
		table, err := d.tables.get(ctx, agents)
		return err == nil && ready(len(phase(table, "Waiting")), column(state, "Used")), err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// observed reports that the status of every budget is written, and is not that of a window that has ended.
func (d *day) observed(resets []string) bool {
	for _, at := range resets {
		if end, err := time.Parse(time.RFC3339, at); err != nil || !end.After(d.clock.Now()) {
			return false
		}
	}
	return true
}

// phase gives the rows of the tasks in a phase.
func phase(table *metav1.Table, name string) []int {
	var rows []int
	for i, in := range column(table, "Phase") {
		if in == name {
			rows = append(rows, i)
		}
	}
	return rows
}

func (d *day) budgets(ctx context.Context, text *bytes.Buffer) error {
	fmt.Fprintln(text, "$ kubectl get taskbudgets")
	table, err := d.tables.get(ctx, budgets)
	if err != nil {
		return err
	}
	return show(text, table, nil)
}

func (d *day) producers(ctx context.Context, text *bytes.Buffer) error {
	fmt.Fprintln(text, "$ kubectl get taskproducers")
	table, err := d.tables.get(ctx, producers)
	if err != nil {
		return err
	}
	return show(text, table, nil)
}

// waiting prints how many tasks are in which phase, and the first of those that wait, each reason once.
func (d *day) waiting(ctx context.Context, text *bytes.Buffer) error {
	table, err := d.tables.get(ctx, agents)
	if err != nil {
		return err
	}
	rows := phase(table, "Waiting")
	const most = 6
	first := rows[:min(len(rows), most)]
	fmt.Fprintf(text, "$ kubectl get agenttasks    # %d wait, %d run, %d are done; the first %d that wait, with the figures that refused them:\n",
		len(rows), len(phase(table, "Running")), len(phase(table, "Succeeded"))+len(phase(table, "Failed")), len(first))
	if err := show(text, table, func(row int) bool { return slices.Contains(first, row) }); err != nil {
		return err
	}
	names, why := column(table, "Name"), column(table, "Why")
	told := map[string]bool{"": true} // one that was admitted a moment ago
	for _, row := range first {
		if !told[why[row]] {
			fmt.Fprintf(text, "  %s: %s\n", names[row], why[row])
		}
		told[why[row]] = true
	}
	return nil
}
