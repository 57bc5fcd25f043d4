package usage

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/period"
)

// Scope says which records a sum is over: those of a namespace whose labels
// match, cut into windows of time and into groups. It is what a ledger needs to
// know of a budget. A Scope must not be changed once a ledger has seen it, and
// a ledger knows it by its address.
type Scope struct {
	// Name names the scope in errors, such as "team-a/daily".
	Name string
	// Namespace is the only namespace whose records count.
	Namespace string
	// Selector matches the labels of records and holds. Required. It must look
	// at nothing but the keys of its Requirements, as all of package labels do.
	Selector labels.Selector
	// Period cuts the time line into windows.
	Period *period.Period
	// GroupBy are label keys. Each combination of their values is a group with
	// an account of its own; a missing label is a group of its own, too.
	GroupBy []string
	// Meters are the meters that are summed.
	Meters []Meter
	// Default is what a hold counts for on a meter that it does not name, and
	// what a record is charged for on a meter that nothing is known of.
	Default Amounts
	// Opened is the start of a window that is known to have opened, for a
	// period that opens at its first use: admissions before it open none. Zero
	// if all that is known are the records and holds.
	Opened time.Time
}

// Group names the group of the scope that labels fall into, "" for a scope
// without GroupBy: "user=u1,!team" is the group of user u1 without a team.
// Values that are not plain are quoted, so that no two groups share a name.
func (s *Scope) Group(set map[string]string) string {
	return string(s.appendGroup(nil, labels.Set(set)))
}

// GroupLabels gives the labels that a group's name stands for: what [Scope.Group]
// names so. Labels that the group lacks are absent. A text that is no name of a
// group of this scope gives the labels up to where it stops to be one.
func (s *Scope) GroupLabels(group string) map[string]string {
	set := map[string]string{}
	for i, key := range s.GroupBy {
		if i > 0 {
			group = strings.TrimPrefix(group, ",")
		}
		if rest, missing := strings.CutPrefix(group, "!"+key); missing {
			group = rest
			continue
		}
		rest, ok := strings.CutPrefix(group, key+"=")
		if !ok {
			return set
		}
		set[key], group = cutValue(rest)
	}
	return set
}

// cutValue takes the first value off what is left of a group's name.
func cutValue(text string) (value, rest string) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		if value, err := strconv.Unquote(quoted); err == nil {
			return value, text[len(quoted):]
		}
	}
	if i := strings.IndexByte(text, ','); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

func (s *Scope) appendGroup(to []byte, set labels.Labels) []byte {
	for i, key := range s.GroupBy {
		if i > 0 {
			to = append(to, ',')
		}
		value, ok := set.Lookup(key)
		if !ok {
			to = append(append(to, '!'), key...)
			continue
		}
		to = append(append(to, key...), '=')
		if isPlain(value) {
			to = append(to, value...)
		} else {
			to = strconv.AppendQuote(to, value)
		}
	}
	return to
}

// isPlain reports whether a label value can stand in a group's name as it is.
// Legal label values always can.
func isPlain(value string) bool {
	for i := range len(value) {
		if c := value[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// matches reports whether records with these labels count in the scope.
func (s *Scope) matches(namespace string, set labels.Labels) bool {
	return s.Selector != nil && s.Namespace == namespace && s.Selector.Matches(set)
}

// slide is the length of a window that slides with time, false for any other.
func (s *Scope) slide() (time.Duration, bool) {
	if s.Period.Kind() != period.Sliding {
		return 0, false
	}
	return s.Period.Longest()
}

// opensAtFirstUse reports whether windows open at their first use.
func (s *Scope) opensAtFirstUse() bool { return s.Period.Kind() == period.FirstUse }

// validate reports a scope that no sum can be made of.
func (s *Scope) validate() error {
	switch {
	case s == nil:
		return errors.New("scope: required")
	case s.Period == nil:
		return fmt.Errorf("scope %s: period: required", clip(s.Name))
	case s.Selector == nil:
		return fmt.Errorf("scope %s: selector: required", clip(s.Name))
	}
	if err := s.Default.Validate(); err != nil {
		return fmt.Errorf("scope %s: default: %w", clip(s.Name), err)
	}
	if err := validateOptionalTime("opened", s.Opened); err != nil {
		return fmt.Errorf("scope %s: %w", clip(s.Name), err)
	}
	return nil
}

// Query asks for one meter of one group of a scope at an instant.
type Query struct {
	// Scope is the scope. Required.
	Scope *Scope
	// Labels choose the group.
	Labels map[string]string
	// Meter must be one of the scope's Meters.
	Meter Meter
	// At is the instant that the answer holds for. It may lie ahead: then the
	// answer is what time alone will have made of today's records and holds.
	At time.Time
	// Except is the UID of a task whose own hold is not to be counted.
	Except types.UID
}

func (q Query) validate() error {
	if err := q.Scope.validate(); err != nil {
		return err
	}
	if !slices.Contains(q.Scope.Meters, q.Meter) {
		return fmt.Errorf("scope %s: meter %s is not summed", clip(q.Scope.Name), Quote(string(q.Meter)))
	}
	return nil
}

// Balance is the answer to a [Query]. Amounts are in the unit of the meter,
// never negative, and cut at the end of int64.
type Balance struct {
	// Window is the window that At lies in. Where a period opens at its first
	// use and none is open, it is the one that a use at At would open, and
	// nothing is used in it yet.
	Window period.Window
	// Closed is true where no window is open.
	Closed bool
	// Known is the sum of what was reported or priced.
	Known int64
	// Charged is the sum of what stands in for unknown figures: the amount of
	// the task's hold or, where that is not known, the scope's default.
	Charged int64
	// Held is the sum of the live holds.
	Held int64
	// Unknown counts the records whose figure is not known, Uncharged those
	// among them for which nothing stands in.
	Unknown, Uncharged int64
}

// Turns says how time alone changes a balance, aside from the end of its
// window.
type Turns struct {
	// Next is the earliest instant after the query's at which it changes,
	// Last the latest; both zero if it never does.
	Next, Last time.Time
	// Rise is the earliest instant after the query's at which a record or a use
	// that is dated ahead comes in; zero if there is none. Before it, and within
	// the window, used and held only fall.
	Rise time.Time
}
