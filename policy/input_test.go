package policy_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/policy"
)

func TestMeasures(t *testing.T) {
	tests := map[string]struct{ got, want policy.Measure }{
		"half used": {policy.Limited(100, 50, 10), policy.Measure{Limit: 100, Used: 50, Held: 10, Remaining: 40, UsedPermille: 500, CommittedPermille: 600}},
		"a share is rounded down, so that >= is exact": {policy.Limited(1_000_000, 799_999, 0), policy.Measure{
			Limit: 1_000_000, Used: 799_999, Remaining: 200_001, UsedPermille: 799, CommittedPermille: 799,
		}},
		"more than the limit":            {policy.Limited(10, 25, 5), policy.Measure{Limit: 10, Used: 25, Held: 5, UsedPermille: 2500, CommittedPermille: 3000}},
		"a limit of 0 is spent":          {policy.Limited(0, 0, 0), policy.Measure{UsedPermille: 1000, CommittedPermille: 1000}},
		"no limit":                       {policy.Unlimited(5, 1), policy.Measure{Limit: policy.NoLimit, Used: 5, Held: 1, Remaining: policy.NoLimit, Unlimited: true}},
		"the greatest figures saturate":  {policy.Limited(1, math.MaxInt64, math.MaxInt64), policy.Measure{Limit: 1, Used: math.MaxInt64, Held: math.MaxInt64, UsedPermille: math.MaxInt64, CommittedPermille: math.MaxInt64}},
		"the greatest limit stays exact": {policy.Limited(math.MaxInt64, math.MaxInt64-1, 0), policy.Measure{Limit: math.MaxInt64, Used: math.MaxInt64 - 1, Remaining: 1, UsedPermille: 999, CommittedPermille: 999}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Errorf("measure (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMicrosAreRoundedToTheSafeSide(t *testing.T) {
	tests := []struct{ nanos, ceil, floor int64 }{
		{0, 0, 0}, {1, 1, 0}, {999, 1, 0}, {1000, 1, 1}, {1001, 2, 1}, {-1, 0, -1},
		{math.MaxInt64, math.MaxInt64/1000 + 1, math.MaxInt64 / 1000},
	}
	for _, test := range tests {
		if c, f := policy.CeilMicros(test.nanos), policy.FloorMicros(test.nanos); c != test.ceil || f != test.floor {
			t.Errorf("%d nanos: got %d and %d, want %d and %d", test.nanos, c, f, test.ceil, test.floor)
		}
	}
}

func TestTheTightestBudgetIsTheMostCommitted(t *testing.T) {
	in := base()
	loose := in.Budgets[0]
	tight := loose
	tight.Name, tight.Meters = "gpu", map[string]policy.Measure{"gpu-seconds": policy.Limited(10, 8, 1)}
	in.Budgets = []policy.Budget{loose, tight}
	if got := in.Complete().Budget.Name; got != "gpu" {
		t.Errorf("got %q", got)
	}
	in.Budgets = nil
	if b := in.Complete().Budget; b.Name != "" || !b.Cost.Unlimited {
		t.Errorf("without budgets: got %+v", b)
	}
}

func TestACompleteInputIsAccepted(t *testing.T) {
	in := base()
	if err := in.Check(); err != nil {
		t.Error(err)
	}
	if got := in.Budget.Period.ElapsedPermille; got != 500 {
		t.Errorf("elapsed: got %d", got)
	}
	local := base()
	local.Now = noon.In(time.FixedZone("x", 3600))
	if diff := cmp.Diff(in, local.Complete()); diff != "" {
		t.Errorf("another zone (-want +got):\n%s", diff)
	}
}

func TestElapsedIsTheShareOfTheWindowThatHasPassed(t *testing.T) {
	const day = 24 * 3600 * 1000
	tests := map[string]struct {
		now, start, end int64
		unbounded       bool
		want            int64
	}{
		"before the window":           {now: -1, end: day},
		"at its start":                {now: 0, end: day},
		"one millisecond before half": {now: day/2 - 1, end: day, want: 499},
		"half":                        {now: day / 2, end: day, want: 500},
		"just before its end":         {now: day - 1, end: day, want: 999},
		"at its end":                  {now: day, end: day, want: 1000},
		"after it":                    {now: 9 * day, end: day, want: 1000},
		"a window without an end":     {now: day, unbounded: true},
		"a window that is empty":      {now: day, start: day, end: day},
		"a window of all time":        {now: 0, start: math.MinInt64, end: math.MaxInt64, want: 500},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := base()
			in.Now = time.UnixMilli(test.now)
			in.Budgets[0].Period = policy.Period{Bounded: !test.unbounded, StartUnixMs: test.start, EndUnixMs: test.end}
			if got := in.Complete().Budget.Period.ElapsedPermille; got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	long := strings.Repeat("x", policy.MaxString+1)
	many := map[string]string{}
	for i := range policy.MaxTaskLabels + 1 {
		many[strings.Repeat("k", i+1)] = ""
	}
	tests := map[string]struct {
		change     func(*policy.Input)
		code, text string
	}{
		"a long string":          {func(in *policy.Input) { in.Task.Model = long }, "input-too-large", "input task.model: has 1025 bytes, at most 1024 are allowed"},
		"a long label":           {func(in *policy.Input) { in.Task.Labels = map[string]string{"k": long} }, "input-too-large", `input task.labels["k"]: has 1025 bytes, at most 1024 are allowed`},
		"a long key":             {func(in *policy.Input) { in.Facts = map[string]string{long: ""} }, "input-too-large", "input facts: a key has 1025 bytes, at most 1024 are allowed"},
		"too many labels":        {func(in *policy.Input) { in.Task.Labels = many }, "input-too-large", "input task.labels: has 65 members, at most 64 are allowed"},
		"too many budgets":       {func(in *policy.Input) { in.Budgets = make([]policy.Budget, 17) }, "input-too-large", "input budgets: has 17 members, at most 16 are allowed"},
		"too many groups":        {func(in *policy.Input) { in.Actor.Groups = make([]string, 65) }, "input-too-large", "input actor.groups: has 65 members, at most 64 are allowed"},
		"a long group":           {func(in *policy.Input) { in.Actor.Groups = []string{"", long} }, "input-too-large", "input actor.groups[1]: has 1025 bytes, at most 1024 are allowed"},
		"bytes that are no text": {func(in *policy.Input) { in.Task.Name = "\xff" }, "invalid-input", "input task.name: is not valid UTF-8"},
		"a negative number":      {func(in *policy.Input) { in.Pod.GPUs = -1 }, "invalid-input", "input pod.gpus: is -1, and may not be negative"},
		"no instant":             {func(in *policy.Input) { in.Now = time.Time{} }, "invalid-input", "input now: is not set or lies outside the years 1 to 9999"},
		"another version":        {func(in *policy.Input) { in.Version = "v2" }, "invalid-input", `input version: is "v2", want "v1"`},
		"another operation":      {func(in *policy.Input) { in.Operation = "admit" }, "invalid-input", `input operation: "admit" is not an operation`},
		"an old derived figure": {func(in *policy.Input) { in.Budgets[0].Cost.Used++ }, "invalid-input",
			"input budgets[0].cost.remaining: does not agree with limit, used and held; call Complete"},
		"an old total":  {func(in *policy.Input) { in.Estimate.InputTokens++ }, "invalid-input", "input estimate.totalTokens: is not the sum of both; call Complete"},
		"an old second": {func(in *policy.Input) { in.Now = in.Now.Add(time.Second) }, "invalid-input", "input nowUnixMs: does not agree with now; call Complete"},
		"a measure of a meter": {func(in *policy.Input) { in.Budgets[0].Meters = map[string]policy.Measure{"m": {Limit: 1}} }, "invalid-input",
			`input budgets[0].meters["m"].remaining: does not agree with limit, used and held; call Complete`},
		"a share of time above the whole": {func(in *policy.Input) { in.Budgets[0].Period.ElapsedPermille = 1001 }, "invalid-input",
			"input budgets[0].period.elapsedPermille: is above 1000"},
		"an end of a window that has none": {func(in *policy.Input) { in.Budgets[0].Period.Bounded = false }, "invalid-input",
			"input budgets[0].period.endUnixMs: must be 0, and elapsedPermille too, when bounded is false"},
		"a window that ends before it starts": {func(in *policy.Input) { in.Budgets[0].Period.EndUnixMs = 0 }, "invalid-input",
			"input budgets[0].period.endUnixMs: is not after startUnixMs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := base()
			test.change(&in)
			var f *policy.Fault
			if err := in.Check(); !errors.As(err, &f) {
				t.Fatalf("got %v", err)
			}
			if f.Code != test.code || f.Error() != test.text {
				t.Errorf("got %s: %s\nwant %s: %s", f.Code, f.Error(), test.code, test.text)
			}
		})
	}
	if (*policy.Input)(nil).Check() == nil {
		t.Error("a nil input was accepted")
	}
}

func TestCompletedMeasuresAlwaysAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := base()
		count := rapid.Int64Range(0, math.MaxInt64)
		in.Budgets[0].Cost = policy.Measure{Limit: count.Draw(t, "limit"), Used: count.Draw(t, "used"), Held: count.Draw(t, "held"), Unlimited: rapid.Bool().Draw(t, "unlimited")}
		in = in.Complete()
		if err := in.Check(); err != nil {
			t.Fatal(err)
		}
		m := in.Budgets[0].Cost
		if m.Remaining < 0 || m.UsedPermille < 0 || m.CommittedPermille < m.UsedPermille {
			t.Fatalf("%+v", m)
		}
	})
}
