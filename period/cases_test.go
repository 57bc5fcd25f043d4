package period_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bursar-dev/bursar/period"
)

// caseFile is testdata/period.json, whose windows were computed by stepping a
// wall clock and cross-checked with java.time and Temporal.
type caseFile struct {
	Meta    json.RawMessage `json:"meta"`
	Cases   []windowCase    `json:"cases"`
	Invalid []invalidCase   `json:"invalid"`
}

type windowCase struct {
	ID       string      `json:"id"`
	Kind     period.Kind `json:"kind"`
	Timezone string      `json:"timezone"`
	Options  caseOptions `json:"options"`
	Now      time.Time   `json:"now"`
	Start    *time.Time  `json:"start"`
	End      *time.Time  `json:"end"`
	Bounds   string      `json:"bounds"`
	Error    string      `json:"error"`
	Note     string      `json:"note"`
	Future   bool        `json:"future"`
}

type invalidCase struct {
	Kind     period.Kind `json:"kind"`
	Timezone string      `json:"timezone"`
	Options  caseOptions `json:"options"`
	Field    string      `json:"field"`
	Reason   string      `json:"reason"`
}

type caseOptions struct {
	TimeOfDay  string     `json:"timeOfDay"`
	WeekStart  string     `json:"weekStart"`
	DayOfMonth *int32     `json:"dayOfMonth"`
	StartMonth *int32     `json:"startMonth"`
	Anchor     *time.Time `json:"anchor"`
	Unit       string     `json:"unit"`
	Every      *int32     `json:"every"`
	Duration   string     `json:"duration"`
	StartsAt   *time.Time `json:"startsAt"`
	EndsAt     *time.Time `json:"endsAt"`
	OpenedAt   *time.Time `json:"openedAt"`
}

func (o caseOptions) spec(kind period.Kind, zone string) period.Spec {
	return period.Spec{
		Type: kind, Timezone: zone, TimeOfDay: o.TimeOfDay, WeekStart: o.WeekStart, DayOfMonth: o.DayOfMonth,
		StartMonth: o.StartMonth, Anchor: o.Anchor, Unit: o.Unit, Every: o.Every, Duration: o.Duration,
		StartsAt: o.StartsAt, EndsAt: o.EndsAt,
	}
}

var sentinels = map[string]error{
	"UnknownKind": period.ErrUnknownKind, "UnknownTimezone": period.ErrUnknownTimezone, "NoTZData": period.ErrNoTZData,
	"BeforeStart": period.ErrBeforeStart, "AfterEnd": period.ErrAfterEnd, "NotOpen": period.ErrNotOpen,
	"ZeroTime": period.ErrZeroTime, "OutOfRange": period.ErrOutOfRange, "NoNext": period.ErrNoNext,
}

func readCases(t testing.TB) caseFile {
	t.Helper()
	data, err := os.ReadFile("testdata/period.json")
	if err != nil {
		t.Fatal(err)
	}
	var file caseFile
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 || len(file.Invalid) == 0 {
		t.Fatal("the file holds no cases")
	}
	return file
}

func TestCases(t *testing.T) {
	for _, c := range readCases(t).Cases {
		t.Run(c.ID, func(t *testing.T) {
			p := compile(t, c.Options.spec(c.Kind, c.Timezone))
			cursor := period.NewCursor(p)
			for name, at := range map[string]func(time.Time) (period.Window, error){
				"At": p.At, "a cold Cursor": cursor.At, "a warm Cursor": cursor.At,
				"Resume from nothing": func(now time.Time) (period.Window, error) { return p.Resume(period.Window{}, now) },
			} {
				if c.Options.OpenedAt != nil {
					name, at = "Resume", reopened(p, *c.Options.OpenedAt)
				}
				got, err := at(c.Now)
				if !c.agrees(t, got, err) {
					t.Errorf("%s of %s, %s", name, p, c.Note)
				}
			}
		})
	}
}

// reopened asks a FirstUse period that has a window.
func reopened(p *period.Period, opened time.Time) func(time.Time) (period.Window, error) {
	length, _ := p.Longest()
	return func(now time.Time) (period.Window, error) {
		return p.Resume(period.Window{Start: opened, End: opened.Add(length)}, now)
	}
}

func (c windowCase) agrees(t *testing.T, got period.Window, err error) bool {
	t.Helper()
	if c.Error != "" {
		want, known := sentinels[c.Error]
		if !known || !errors.Is(err, want) || got != (period.Window{}) {
			t.Errorf("got %v, %v, want error %s", got, err, c.Error)
			return false
		}
		return true
	}
	want := period.Window{LookBack: c.Bounds == "(start,end]"}
	if c.Start != nil {
		want.Start = *c.Start
	}
	if c.End != nil {
		want.End = *c.End
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || !got.Contains(c.Now) {
		t.Errorf("error %v, window -want +got:\n%s", err, diff)
		return false
	}
	return true
}

func TestInvalidCases(t *testing.T) {
	for _, c := range readCases(t).Invalid {
		name := fmt.Sprintf("%s %s is refused: %s", c.Kind, c.Field, c.Reason)
		t.Run(name, func(t *testing.T) {
			for source, options := range map[string][]period.Option{
				"pinned": {period.WithZones(pinnedZone)}, "system": nil,
			} {
				p, err := period.Compile(c.Options.spec(c.Kind, c.Timezone), options...)
				var fields []string
				for _, e := range period.Errors(err) {
					fields = append(fields, e.Field)
				}
				if diff := cmp.Diff([]string{c.Field}, fields); diff != "" || p != nil {
					t.Errorf("%s zones: %v, %v: -want +got:\n%s", source, p, err, diff)
				}
			}
		})
	}
}
