package webhook

import (
	"fmt"
	"strings"
	"time"

	"github.com/bursar-dev/bursar/budget"
	budgetv1alpha1 "github.com/bursar-dev/bursar/budget/v1alpha1"
)

// ShortTTL warns of a record lifetime that is less than a tenth above the longest
// window: records go while people still look at the window that has just ended,
// and a correction that comes late finds nothing.
func ShortTTL(rule *budget.Rule, seconds *int64) []string {
	longest, bounded := rule.Period().Longest()
	if seconds == nil || !bounded {
		return nil
	}
	ttl := time.Duration(*seconds) * time.Second
	if spare := ttl - longest; spare >= longest/10 {
		return nil
	}
	return []string{fmt.Sprintf(
		"spec.recordTTLSeconds: records live %v and a window lasts up to %v; keep them longer to see a whole window after its end",
		ttl, longest)}
}

// EndedLifetime warns of a Lifetime that is over: the budget refuses every task.
func EndedLifetime(p budgetv1alpha1.Period, now time.Time) []string {
	if p.EndsAt == nil || now.Before(p.EndsAt.Time) {
		return nil
	}
	return []string{fmt.Sprintf("spec.period.endsAt: %s is over; the budget allows nothing any more",
		p.EndsAt.UTC().Format(time.RFC3339))}
}

// InvertedZone warns of the zones Etc/GMT+N, whose sign is that of POSIX: they are
// behind UTC, not ahead.
func InvertedZone(name string) []string {
	offset, ok := strings.CutPrefix(name, "Etc/GMT")
	if !ok || len(offset) < 2 || offset[1:] == "0" {
		return nil
	}
	side := "behind"
	if offset[0] == '-' {
		side = "ahead of"
	}
	return []string{fmt.Sprintf("spec.period.timezone: %s is %s hours %s UTC; the sign in this name is that of POSIX", name, offset[1:], side)}
}
