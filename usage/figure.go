package usage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Basis says where a figure of a record comes from.
type Basis string

// The bases of a figure.
const (
	// Reported: the task, or its host on its behalf, said so.
	Reported Basis = "Reported"
	// Priced: computed from reported tokens with a [PriceList].
	Priced Basis = "Priced"
	// Held: nothing was reported; it is what the task's hold had set aside.
	Held Basis = "Held"
	// Unknown: nothing is known. The amount is zero and means nothing.
	Unknown Basis = "Unknown"
)

// Known reports whether the figure is what the task really spent. Held and
// Unknown figures are not: what a budget makes of them is its own policy.
func (b Basis) Known() bool { return b == Reported || b == Priced }

// Figure is one amount of a record and where it comes from.
type Figure struct {
	// Amount is in the unit of its meter; zero when the basis is Unknown.
	Amount int64 `json:"amount"`
	// Basis says what the amount stands on.
	Basis Basis `json:"basis"`
}

// Figures is what a record says, per meter. A meter that is absent was not
// reported, and a budget that limits it treats it like an Unknown one.
type Figures map[Meter]Figure

// Clone returns a copy that shares nothing with f; nil stays nil.
func (f Figures) Clone() Figures { return maps.Clone(f) }

// Meters lists the meters of f, sorted by name.
func (f Figures) Meters() []Meter { return slices.Sorted(maps.Keys(f)) }

// Of gives the figure of a meter: Unknown where f does not name it, except for
// [Tasks], of which a record is one.
func (f Figures) Of(m Meter) Figure {
	if figure, ok := f[m]; ok {
		return figure
	}
	if amount, ok := m.implicit(); ok {
		return Figure{Amount: amount, Basis: Reported}
	}
	return Figure{Basis: Unknown}
}

// String gives the figures as people read them, sorted by meter: "costUSD 0.25
// (Reported), inputTokens unknown"; "none" if there are none.
func (f Figures) String() string {
	if len(f) == 0 {
		return "none"
	}
	var parts []string
	for _, m := range f.Meters() {
		part := string(m) + " unknown"
		if figure := f[m]; figure.Basis != Unknown {
			part = fmt.Sprintf("%s %s (%s)", m, m.Format(figure.Amount), figure.Basis)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// Amounts gives the figures that are known, without those that only a hold
// stands for.
func (f Figures) Amounts() Amounts {
	known := Amounts{}
	for m, figure := range f {
		if figure.Basis.Known() {
			known[m] = figure.Amount
		}
	}
	return known
}

// validate reports the first figure, by meter, that no record may carry.
func (f Figures) validate() error {
	first, fault := Meter(""), error(nil)
	for m, figure := range f {
		if err := figure.validate(m); err != nil && (fault == nil || m < first) {
			first, fault = m, err
		}
	}
	return fault
}

func (f Figure) validate(m Meter) error {
	if err := ValidateMeter(m); err != nil {
		return err
	}
	switch {
	case f.Basis.code() == 0:
		return fmt.Errorf("%s: unknown basis %s", m, Quote(string(f.Basis)))
	case f.Basis == Unknown && f.Amount != 0:
		return fmt.Errorf("%s: basis Unknown with the amount %s", m, m.Format(f.Amount))
	case f.Amount < 0:
		return fmt.Errorf("%s %s: %w", m, m.Format(f.Amount), errNegative)
	default:
		return nil
	}
}

// basisCode is a basis in one byte; zero is no basis.
type basisCode uint8

const (
	codeReported basisCode = iota + 1
	codePriced
	codeHeld
	codeUnknown
)

func (b Basis) code() basisCode {
	switch b {
	case Reported:
		return codeReported
	case Priced:
		return codePriced
	case Held:
		return codeHeld
	case Unknown:
		return codeUnknown
	default:
		return 0
	}
}
