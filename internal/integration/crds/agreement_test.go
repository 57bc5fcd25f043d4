package crds_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
	"github.com/bursar-dev/bursar/usage"
)

func usd(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

// judge asks both: the API server, and Compile about what a Go program reads. What no program can read is refused by both or
// the API server is at fault: one such object stops every informer.
func judge(t rapid.TB, spec string) (server, compile error) {
	t.Helper()
	body := manifest("TaskBudget", "x", parse(t, spec)).json(t)
	server = dryRun(t, "taskbudgets", body)
	tb := &budgetv1alpha1.TaskBudget{}
	if err := json.Unmarshal(body, tb); err != nil {
		if server == nil {
			t.Fatalf("the API server stores what nobody can read: %s: %v", spec, err)
		}
		return server, err
	}
	_, faults := budget.Compile(tb)
	return server, faults.ToAggregate()
}

// The differences that are known, and why. Everything else must agree: see TestServerAndCompileAgree.
func TestKnownDifferences(t *testing.T) {
	label := strings.Repeat("a", 64)
	for why, specs := range map[string][]string{
		// Looser than Compile. Compile judges what is stored and refuses to admit; the webhook keeps it from being stored.
		"the syntax of labels in a selector has no bound on its cost in CEL": {
			`{taskSelector: {matchLabels: {team: "a b"}}, period: {type: Daily}, maxCostUSD: 1}`,
			`{taskSelector: {matchLabels: {"-": a}}, period: {type: Daily}, maxCostUSD: 1}`,
			`{taskSelector: {matchLabels: {team: ` + label + `}}, period: {type: Daily}, maxCostUSD: 1}`,
			`{taskSelector: {matchExpressions: [{key: "a b", operator: Exists}]}, period: {type: Daily}, maxCostUSD: 1}`,
		},
		"the length of a window is no matter of CEL": {
			`{taskSelector: {}, period: {type: Daily}, maxCostUSD: 1, recordTTLSeconds: 86399}`,
			`{taskSelector: {}, period: {type: Daily, timezone: Europe/Berlin}, maxCostUSD: 1, recordTTLSeconds: 86400}`,
			`{taskSelector: {}, period: {type: Lifetime}, maxCostUSD: 1, recordTTLSeconds: 86400}`,
		},
		"a pattern cannot compare texts with the greatest amount": {
			`{taskSelector: {}, period: {type: Daily}, maxCostUSD: "9223372037"}`, `{taskSelector: {}, period: {type: Daily}, maxCostUSD: 1E}`,
		},
		"the zero time means absent to Go": {
			`{taskSelector: {}, period: {type: Lifetime, endsAt: "0001-01-01T00:00:00Z"}, maxCostUSD: 1}`,
		},
	} {
		for _, spec := range specs {
			if server, compile := judge(t, spec); server != nil || compile == nil {
				t.Errorf("%s: %s: the server says %v, Compile %v", why, spec, server, compile)
			}
		}
	}
	for why, specs := range map[string][]string{
		// Stricter than Compile. Nothing is lost: the same budget can be written in another way.
		"an empty text is no way to leave a field out": {
			`{taskSelector: {}, period: {type: Daily, timezone: ""}, maxCostUSD: 1}`,
			`{taskSelector: {}, period: {type: Daily, timeOfDay: ""}, maxCostUSD: 1}`,
			`{taskSelector: {}, period: {type: Daily, weekStart: ""}, maxCostUSD: 1}`,
			`{taskSelector: {}, period: {type: Daily}, maxCostUSD: 1, action: ""}`,
			`{taskSelector: {}, period: {type: Daily}, maxCostUSD: 1, unknownUsage: ""}`,
		},
		"a zero with a sign or a binary suffix": {
			`{taskSelector: {}, period: {type: Daily}, maxCostUSD: "-0"}`, `{taskSelector: {}, period: {type: Daily}, maxCostUSD: 0Ki}`,
		},
	} {
		for _, spec := range specs {
			if server, compile := judge(t, spec); server == nil || compile != nil {
				t.Errorf("%s: %s: the server says %v, Compile %v", why, spec, server, compile)
			}
		}
	}
}

func meters(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("{meter: m%d, max: 1}", i))
	}
	return strings.Join(list, ", ")
}

// pools are values of each field of a period, right and wrong.
var pools = map[string][]string{
	"timezone":   {"UTC", "Europe/Berlin", "Etc/GMT+3", "local", "right/UTC", "Mars/Base", "America//New_York", "europe/berlin", "EST5EDT", "US/Pacific"},
	"timeOfDay":  {`"00:00"`, `"23:59"`, `"24:00"`, `"7:00"`},
	"weekStart":  {"Monday", "Sunday", "monday"},
	"dayOfMonth": {"0", "1", "31", "32"},
	"startMonth": {"0", "1", "12", "13"},
	"anchor":     {`"2026-01-01T00:00:00Z"`, `"2026-01-31T09:30:00+05:45"`, `"2026-01-01T00:00:00.25Z"`, `"2026-01-01"`, `"2026-13-01T00:00:00Z"`},
	"unit":       {"Day", "Week", "Month", "Year", "Hour"},
	"every":      {"0", "1", "100", "101", "1200", "1201", "5218", "5219", "36525", "36526", "2147483648"},
	"duration":   {"59s", "60s", "90m", "5h", "3660d", "3661d", "522w", "523w", "999999999w", "1h30m", "0m", "1.5h", "999999999s"},
	"startsAt":   {`"2026-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `"2026-01-01T00:00:00.5Z"`},
	"endsAt":     {`"2026-01-01T00:00:00Z"`, `"2026-06-01T00:00:00Z"`, `"2025-01-01T00:00:00Z"`},
}

var fields = []string{
	"timezone", "timeOfDay", "weekStart", "dayOfMonth", "startMonth", "anchor", "unit", "every", "duration", "startsAt", "endsAt",
}

var kinds = []string{
	"Hourly", "Daily", "Weekly", "Monthly", "Quarterly", "Yearly", "Cycle", "Fixed", "FirstUse", "Sliding", "Lifetime", "Nightly",
}

// takes are the fields of each kind that are drawn more often, so that many specs are right.
var takes = map[string][]string{
	"Daily": {"timeOfDay"}, "Weekly": {"timeOfDay", "weekStart"}, "Monthly": {"timeOfDay", "dayOfMonth"},
	"Quarterly": {"timeOfDay", "dayOfMonth", "startMonth"}, "Yearly": {"dayOfMonth", "startMonth"}, "Cycle": {"anchor", "unit", "every"},
	"Fixed": {"duration", "anchor"}, "FirstUse": {"duration"}, "Sliding": {"duration"}, "Lifetime": {"startsAt", "endsAt"},
}

var restOfSpec = []string{
	`limits: [` + meters(32) + `]`, `limits: [` + meters(33) + `]`,
	`maxCostUSD: 0.5`, `maxCostUSD: -0.5`, `maxCostUSD: "-1"`, `maxCostUSD: "x"`, `maxCostUSD: 1Ki`, `maxInputTokens: 0`, `maxInputTokens: -1`,
	`maxOutputTokens: 9223372036854775807`, `maxOutputTokens: 9223372036854775808`, `limits: []`, `limits: [{meter: tasks, max: 1}]`,
	`limits: [{meter: costUSD, max: 1}]`, `limits: [{meter: a-, max: 1}]`, `limits: [{meter: a, max: -1}]`, `limits: [{meter: a, max: 1}, {meter: a, max: 1}]`,
	`maxCostUSD: 1, action: Warn`, `maxCostUSD: 1, action: warn`, `maxCostUSD: 1, unknownUsage: Ignore`, `maxCostUSD: 1, unknownUsage: x`,
	`maxCostUSD: 1, groupBy: [a, example.com/b]`, `maxCostUSD: 1, groupBy: ["a b"]`, `maxCostUSD: 1, groupBy: [a, a]`, `maxCostUSD: 1, groupBy: ["/a"]`,
	`maxCostUSD: 1, groupBy: ["` + strings.Repeat("a", 64) + `"]`, `maxCostUSD: 1, groupBy: ["Example.com/a"]`,
	`maxCostUSD: 1, thresholds: [1, 100]`, `maxCostUSD: 1, thresholds: [0]`, `maxCostUSD: 1, thresholds: [101]`, `maxCostUSD: 1, thresholds: [5, 5]`,
	`maxCostUSD: 1, recordTTLSeconds: 0`, `maxCostUSD: 1, defaultEstimate: {costUSD: 2, inputTokens: 3}`, `maxCostUSD: 1, defaultEstimate: {inputTokens: -3}`,
	`maxCostUSD: 1, defaultEstimate: {costUSD: -2}`, `maxCostUSD: 1, defaultEstimate: {meters: [{meter: outputTokens, amount: 1}]}`,
}

var selectors = []string{
	`{}`, `{matchLabels: {team: a}}`, `{matchExpressions: [{key: a, operator: In, values: [b]}]}`, `{matchExpressions: [{key: a, operator: In}]}`,
	`{matchExpressions: [{key: a, operator: Exists, values: [b]}]}`, `{matchExpressions: [{key: a, operator: Near}]}`,
	`{matchExpressions: [{key: a, operator: DoesNotExist}]}`, `{matchExpressions: [{key: a, operator: NotIn, values: [b, c]}]}`,
}

func TestServerAndCompileAgree(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(r, "kind")
		parts := []string{"type: " + kind}
		drawn := map[string]bool{}
		add := func(field string) {
			if !drawn[field] {
				drawn[field] = true
				parts = append(parts, field+": "+rapid.SampledFrom(pools[field]).Draw(r, field))
			}
		}
		for _, field := range takes[kind] {
			if rapid.IntRange(0, 9).Draw(r, "takes") > 1 {
				add(field)
			}
		}
		if rapid.IntRange(0, 3).Draw(r, "another") == 0 {
			add(rapid.SampledFrom(fields).Draw(r, "field"))
		}
		rest := `maxCostUSD: 1`
		if rapid.Bool().Draw(r, "plain") {
			rest = rapid.SampledFrom(restOfSpec).Draw(r, "rest")
		}
		spec := fmt.Sprintf("{taskSelector: %s, period: {%s}, %s}", rapid.SampledFrom(selectors).Draw(r, "selector"), strings.Join(parts, ", "), rest)
		server, compile := judge(r, spec)
		if (server == nil) != (compile == nil) {
			r.Fatalf("%s:\nthe server says %v\nCompile says %v", spec, server, compile)
		}
		if server == nil {
			accepted++
		} else {
			refused++
		}
	})
	t.Logf("%d specs accepted, %d refused", accepted, refused)
	if accepted == 0 || refused == 0 {
		t.Error("one answer never came: the drawing proves nothing")
	}
}

// What RecordUsage makes of a task can always be stored: a record that the API server refuses is spend that is lost.
func TestEveryRecordIsStored(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		start := time.Date(2026, 3, 14, 12, 0, 0, rapid.IntRange(0, 999_999_999).Draw(r, "nanos"), time.UTC)
		text := rapid.OneOf(rapid.SampledFrom([]string{"", "0", "0.5", "-1", "NaN", "1e-05", "1e99", "9223372036854775808", "abc"}), rapid.String())
		results := map[string]string{}
		for _, name := range []string{"cost-usd", "input-tokens", "output-tokens"} {
			if rapid.Bool().Draw(r, "reported") {
				results[name] = text.Draw(r, name)
			}
		}
		labels := map[string]string{}
		for i := range rapid.IntRange(0, 200).Draw(r, "labels") {
			labels[fmt.Sprintf("example.com/label-%d", i)] = "value"
		}
		reported := usage.Amounts{}
		for i := range rapid.IntRange(0, 40).Draw(r, "meters") {
			reported[usage.Meter(fmt.Sprintf("m%d", i))] = rapid.Int64Range(-1, math.MaxInt64).Draw(r, "amount")
		}
		record, err := usage.RecordUsage(usage.Completion{
			Task: usage.Task{
				UID: types.UID(uid), Namespace: namespace, Name: "fix-bug", Type: rapid.StringN(0, 300, 900).Draw(r, "type"),
				Model: rapid.StringN(0, 300, 900).Draw(r, "model"),
			},
			Phase: usage.Succeeded, Labels: labels, StartTime: start, CompletionTime: start.Add(time.Duration(rapid.Int64Range(-1e12, 1e15).Draw(r, "took"))),
			Results: results, Reported: reported,
		})
		if err != nil {
			return
		}
		body, err := json.Marshal(budget.NewTaskRecord(record))
		if err != nil {
			r.Fatal(err)
		}
		if err := dryRun(r, "taskrecords", body); err != nil {
			r.Fatalf("%v\n%s", err, body)
		}
	})
}

// The bounds of a record are far above what a task brings: none of them may cost a record.
func TestALargeRecordIsStored(t *testing.T) {
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	labels, reported, results := map[string]string{}, usage.Amounts{}, map[string]string{}
	for i := range 1000 {
		labels[fmt.Sprintf("example.com/label-%d", i)] = strings.Repeat("v", 63)
	}
	for i := range 250 {
		reported[usage.Meter(fmt.Sprintf("m%d", i))] = math.MaxInt64
	}
	for _, name := range []string{"cost-usd", "input-tokens", "output-tokens"} {
		results[name] = strings.Repeat("\U0001F4B8", 10_000)
	}
	record, err := usage.RecordUsage(usage.Completion{
		Task:  usage.Task{UID: types.UID(uid), Namespace: namespace, Name: strings.Repeat("n", 253), Type: strings.Repeat("t", 4096), Model: strings.Repeat("m", 4096)},
		Phase: usage.Failed, Labels: labels, StartTime: at, CompletionTime: at, Results: results, Reported: reported,
	})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(budget.NewTaskRecord(record))
	if err != nil {
		t.Fatal(err)
	}
	if err := dryRun(t, "taskrecords", body); err != nil {
		t.Error(err)
	}
}
