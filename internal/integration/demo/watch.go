package demo

import (
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

// watch prints what there is to see, in the order in which it happens.
func (d *day) watch(ctx context.Context) error {
	fmt.Fprintf(d.out, "A day of tasks; an hour takes %v. The budgets and the producers are in examples/taskcontroller/manifests/day.yaml.\n", hour)
	for _, scene := range []struct {
		title string
		ready func(waiting int) bool
		show  []func(context.Context) error
	}{
		{"the day begins", func(int) bool { return true }, []func(context.Context) error{d.budgets}},
		{"tasks wait", func(waiting int) bool { return waiting >= 5 }, []func(context.Context) error{d.budgets, d.waiting}},
		{
			"the end of the day", func(int) bool { return d.clock.Now().After(midnight().Add(-20 * time.Minute)) },
			[]func(context.Context) error{d.budgets, d.producers},
		},
		{
			"a new day: the budgets are reset, and tasks that waited have started by themselves",
			func(int) bool { return d.clock.Now().After(midnight().Add(90 * time.Minute)) },
			[]func(context.Context) error{d.budgets, d.waiting},
		},
	} {
		if err := d.await(ctx, scene.ready); err != nil {
			return fmt.Errorf("%s: %w", scene.title, err)
		}
		fmt.Fprintf(d.out, "\n%s: %s\n", d.clock.Now().Format("Mon 15:04"), scene.title)
		for _, show := range scene.show {
			if err := show(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func midnight() time.Time { return morning.Truncate(24 * time.Hour).Add(24 * time.Hour) }

// await looks at the tasks until the budgets are observed and the scene is there.
func (d *day) await(ctx context.Context, ready func(waiting int) bool) error {
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		state, err := d.tables.get(ctx, budgets)
		if err != nil {
			return false, err
		}
		for _, resets := range column(state, "Resets") {
			end, err := time.Parse(time.RFC3339, resets)
			if err != nil || !end.After(d.clock.Now()) {
				return false, nil // the status is not written yet, or is that of yesterday
			}
		}
		table, err := d.tables.get(ctx, agents)
		return err == nil && ready(len(phase(table, "Waiting"))), err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
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

func (d *day) budgets(ctx context.Context) error {
	fmt.Fprintln(d.out, "$ kubectl get taskbudgets")
	table, err := d.tables.get(ctx, budgets)
	if err != nil {
		return err
	}
	return show(d.out, table, nil)
}

func (d *day) producers(ctx context.Context) error {
	fmt.Fprintln(d.out, "$ kubectl get taskproducers")
	table, err := d.tables.get(ctx, producers)
	if err != nil {
		return err
	}
	return show(d.out, table, nil)
}

// waiting prints how many tasks are in which phase, and the first of those that wait, each reason once.
func (d *day) waiting(ctx context.Context) error {
	table, err := d.tables.get(ctx, agents)
	if err != nil {
		return err
	}
	rows := phase(table, "Waiting")
	fmt.Fprintf(d.out, "$ kubectl get agenttasks    # %d wait, %d run, %d are done; of those that wait:\n",
		len(rows), len(phase(table, "Running")), len(phase(table, "Succeeded"))+len(phase(table, "Failed")))
	const most = 6
	first := rows[:min(len(rows), most)]
	if err := show(d.out, table, func(row int) bool { return slices.Contains(first, row) }); err != nil {
		return err
	}
	names, why := column(table, "Name"), column(table, "Why")
	told := map[string]bool{}
	for _, row := range first {
		if !told[why[row]] {
			fmt.Fprintf(d.out, "  %s: %s\n", names[row], why[row])
		}
		told[why[row]] = true
	}
	return nil
}
