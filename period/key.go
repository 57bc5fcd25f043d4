package period

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Key identifies what the period means: 32 hexadecimal digits, the same in every
// process and release. Specs whose windows differ have different keys. Specs that
// write the same thing in another way have the same one: "" or "UTC", "1d" or
// "24h", a default written out or left out. Names of one zone that are links of
// each other still differ. With a window's Start in RFC 3339 it identifies the
// window; a local date would not, since dates repeat. It is empty for a nil or
// zero Period.
func (p *Period) Key() string {
	if p == nil {
		return ""
	}
	return p.key
}

// identity hashes what the windows follow from. The zone is a part only where it
// is of consequence, and never its data: that is what Resume is for.
func (p *Period) identity() string {
	text := []string{"period/v1", string(p.kind)}
	number := func(n int64) { text = append(text, strconv.FormatInt(n, 10)) }
	switch p.kind {
	case Fixed:
		number(p.length)
		number(floorMod(p.anchor, p.length))
	case FirstUse, Sliding:
		number(p.length)
	case Lifetime:
		text = append(text, instantText(p.startsAt), instantText(p.endsAt))
	case Cycle:
		text = append(text, p.zone, strconv.FormatBool(p.labels.inMonths))
		number(p.labels.step)
		number(p.anchor)
	default:
		text = append(text, p.zone)
		number(floorMod(p.labels.origin, max(p.labels.step, 1)))
		number(p.labels.monthDay)
		number(p.labels.second)
	}
	sum := sha256.Sum256([]byte(strings.Join(text, "|")))
	return hex.EncodeToString(sum[:16])
}
