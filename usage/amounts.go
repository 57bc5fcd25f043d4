package usage

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Amounts is an amount per meter, each in the unit of its meter. A meter that
// is not in it is absent, which is not zero: nothing is known of it. A nil map
// knows nothing at all.
//
// As JSON it is an object in which money is a decimal text and everything else
// a number: {"costUSD":"0.25","inputTokens":1500}.
type Amounts map[Meter]int64

// Clone returns a copy that shares nothing with a; nil stays nil.
func (a Amounts) Clone() Amounts { return maps.Clone(a) }

// Meters lists the meters of a, sorted by name.
func (a Amounts) Meters() []Meter { return slices.Sorted(maps.Keys(a)) }

// Validate reports the first meter, by name, that is illegal or whose amount is
// negative; nil when there is none.
func (a Amounts) Validate() error {
	var first error
	var at Meter
	for m, amount := range a {
		if first != nil && m > at {
			continue
		}
		if err := m.validateAmount(amount); err != nil {
			first, at = err, m
		}
	}
	return first
}

func (m Meter) validateAmount(amount int64) error {
	if err := ValidateMeter(m); err != nil {
		return err
	}
	if amount < 0 {
		return fmt.Errorf("%s %s: %w", m, m.Format(amount), errNegative)
	}
	return nil
}

// String gives the amounts as people read them, sorted by meter:
// "costUSD 0.25, inputTokens 1500"; "none" if there are none.
func (a Amounts) String() string {
	if len(a) == 0 {
		return "none"
	}
	var parts []string
	for _, m := range a.Meters() {
		parts = append(parts, string(m)+" "+m.Format(a[m]))
	}
	return strings.Join(parts, ", ")
}

// MarshalJSON implements [json.Marshaler].
func (a Amounts) MarshalJSON() ([]byte, error) {
	if a == nil {
		return []byte("null"), nil
	}
	object := make(map[Meter]any, len(a))
	for m, amount := range a {
		if m == CostUSD {
			object[m] = FormatUSD(amount)
		} else {
			object[m] = amount
		}
	}
	return json.Marshal(object)
}

// UnmarshalJSON implements [json.Unmarshaler]. Money may be a text or a number,
// other amounts an integer as number or text; what cannot be read is an error
// that names the meter, the first by name, and so is a meter that comes twice.
// null leaves nothing known.
func (a *Amounts) UnmarshalJSON(data []byte) error {
	object, err := jsonObject(data)
	if err != nil {
		return err
	}
	if object == nil {
		*a = nil
		return nil
	}
	read := make(Amounts, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		m := Meter(name)
		if err := ValidateMeter(m); err != nil {
			return err
		}
		amount, err := parseJSONAmount(m, object[name])
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		read[m] = amount
	}
	*a = read
	return nil
}

// parseJSONAmount reads a JSON value that is a text or a number.
func parseJSONAmount(m Meter, value json.RawMessage) (int64, error) {
	switch c := value[0]; {
	case c == '"':
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return 0, err
		}
		return m.Parse(text)
	case isDigit(c) || c == '-':
		return m.Parse(string(value))
	default:
		return 0, fmt.Errorf("want a number, not %s", Quote(string(value)))
	}
}

// SaturatingAdd gives a+b, cut at the ends of int64 instead of wrapped.
func SaturatingAdd(a, b int64) int64 {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}
