package period

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // zones on systems that have none; the system's own data comes first
)

// ZoneSource gives the location of an IANA zone name. It is asked at Compile
// only, after the name was checked, never for UTC, and must be safe for
// concurrent use if Compile is called concurrently. time.LoadLocation is one;
// a source that reads zone data of its own keeps replicas on different systems
// in agreement.
type ZoneSource func(name string) (*time.Location, error)

// zoneCache remembers what time.LoadLocation gave, which costs 12 µs a call. The
// tz database has 600 names; the bound matters on disks that ignore case, where
// one zone has thousands of spellings.
type zoneCache struct {
	zones sync.Map // name -> *time.Location
	count atomic.Int64
}

const maxCachedZones = 1024

// loaded serves every Compile that has no source of its own. It holds nothing
// but what LoadLocation answers.
var loaded zoneCache

// location is a ZoneSource. Failures are not remembered: data can be installed.
func (c *zoneCache) location(name string) (*time.Location, error) {
	if known, ok := c.zones.Load(name); ok {
		if loc, ok := known.(*time.Location); ok {
			return loc, nil
		}
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	if c.count.Load() < maxCachedZones {
		if _, known := c.zones.LoadOrStore(name, loc); !known {
			c.count.Add(1)
		}
	}
	return loc, nil
}

// utcName is what an empty Timezone means.
const utcName = "UTC"

// load gives the clock of a zone name: nil is UTC.
func (source ZoneSource) load(name string) (*time.Location, *Error) {
	if why := refuseZoneName(name); why != "" {
		return nil, fault("timezone", name, ErrUnknownTimezone, "%s", why)
	}
	if name == utcName {
		return nil, nil
	}
	loc, err := source.find(name)
	if err == nil {
		return loc, nil
	}
	if source.empty() {
		return nil, fault("timezone", name, ErrNoTZData, "this program has no time zone data, so that no zone but UTC can be "+
			"used: install tzdata where it runs, or build it with time/tzdata (%s)", shorten(err.Error()))
	}
	return nil, fault("timezone", name, ErrUnknownTimezone,
		"no zone of the tz database has this name; write one such as \"Europe/Berlin\" (upper and lower case matter), or leave it out for UTC")
}

var errNoLocation = errors.New("the zone source gave no location")

// find asks the source. A nil location is a failure: it would count as UTC.
func (source ZoneSource) find(name string) (*time.Location, error) {
	loc, err := source(name)
	if err == nil && loc == nil {
		err = errNoLocation
	}
	return loc, err
}

// empty says whether the source knows none of some zones that all data has.
func (source ZoneSource) empty() bool {
	for _, probe := range [...]string{"Europe/London", "America/New_York", "Asia/Tokyo"} {
		if _, err := source.find(probe); err == nil {
			return false
		}
	}
	return true
}

const maxZoneName = 64

// refuseZoneName says why a name is inadmissible, or "". time.LoadLocation takes
// far more than zone names: Local, files of the host, other trees, dotted paths.
func refuseZoneName(name string) string {
	if len(name) > maxZoneName {
		return "a zone name has at most 64 characters"
	}
	if !zoneShaped(name) {
		return "not a zone name; write one of the tz database such as \"Europe/Berlin\" or \"Etc/GMT-3\" (which is three hours " +
			"ahead of UTC), or leave it out for UTC"
	}
	first, _, nested := strings.Cut(strings.ToLower(name), "/")
	switch {
	case nested && (first == "right" || first == "posix"):
		return "the posix and right trees are copies of the tz database for other purposes; write the name without the prefix"
	case first == "local" || first == "localtime" || first == "posixrules":
		return "that is the zone of whichever machine reads it; write the name of a zone, such as \"Europe/Berlin\""
	case first == "factory":
		return "that is the placeholder of a machine that was never set up; write the name of a zone, such as \"Europe/Berlin\""
	}
	return ""
}

// zoneShaped says whether name is parts of letters, digits, "_", "+" and "-",
// joined by "/", of which the first starts with a letter.
func zoneShaped(name string) bool {
	if name == "" || !letter(name[0]) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" {
			return false
		}
		for i := range len(part) {
			if c := part[i]; !letter(c) && (c < '0' || c > '9') && c != '_' && c != '+' && c != '-' {
				return false
			}
		}
	}
	return true
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
