package usage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Price is what a model costs.
type Price struct {
	// Model is the name of a model, or a pattern in which '*' stands for any
	// text ("gpt-5*"). Case counts.
	Model string `json:"model"`
	// PerMillionUSD is the price of a million tokens in dollars, per kind of
	// token, as [ParseUSD] reads it: {"inputTokens": "2.50"}.
	PerMillionUSD map[Meter]string `json:"perMillionUSD"`
}

// UnmarshalJSON implements [json.Unmarshaler]. A price may be a text or a
// number; a field that is not one of a price is an error, and so is one that
// comes twice. Upper and lower case matter.
func (p *Price) UnmarshalJSON(data []byte) error {
	object, err := jsonObject(data)
	if err != nil {
		return err
	}
	var read Price
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch name {
		case "model":
			err = json.Unmarshal(object[name], &read.Model)
		case "perMillionUSD":
			read.PerMillionUSD, err = parseJSONPrices(object[name])
		default:
			return fmt.Errorf("unknown field %s", Quote(name))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	*p = read
	return nil
}

// parseJSONPrices reads prices per kind of token as they are written.
func parseJSONPrices(data []byte) (map[Meter]string, error) {
	object, err := jsonObject(data)
	if len(object) == 0 {
		return nil, err
	}
	prices := make(map[Meter]string, len(object))
	for _, m := range slices.Sorted(maps.Keys(object)) {
		text := string(object[m])
		switch c := text[0]; {
		case c == '"':
			if err := json.Unmarshal(object[m], &text); err != nil {
				return nil, err
			}
		case !isDigit(c) && c != '-':
			return nil, fmt.Errorf("%s: want a price in dollars, not %s", Quote(m), Quote(text))
		}
		prices[Meter(m)] = text
	}
	return prices, nil
}

// Inclusion says whether tokens of one kind are counted in another count, too.
// Providers differ, so the caller says it; nothing is guessed.
type Inclusion string

// The inclusions.
const (
	// Unsaid is the zero value: tokens of that kind can't be priced.
	Unsaid Inclusion = ""
	// Included: the larger count contains them.
	Included Inclusion = "Included"
	// Separate: the larger count does not contain them.
	Separate Inclusion = "Separate"
)

// TokenCounts says how the token counts of a task relate to each other.
type TokenCounts struct {
	// Cached says whether [InputTokens] contain [CacheReadTokens] and
	// [CacheWriteTokens].
	Cached Inclusion
	// Reasoning says whether [OutputTokens] contain [ReasoningTokens].
	Reasoning Inclusion
}

// PriceList prices tokens. It is immutable and safe for concurrent use; a nil
// or zero one has no prices. Build it with [CompilePrices].
type PriceList struct {
	prices []price // the most specific pattern first
}

type price struct {
	pattern string
	parts   []string        // the pattern's text around its stars
	nano    map[Meter]int64 // nano-USD per million
}

// tokensPerPrice is how many tokens a price is for.
const tokensPerPrice = 1_000_000

// CompilePrices checks a price list and makes it ready for use. All faults are
// reported, joined, each with the index of its price.
func CompilePrices(list []Price) (*PriceList, error) {
	compiled, seen := &PriceList{}, map[string]int{}
	var faults []error
	for i, entry := range list {
		if first, twice := seen[entry.Model]; twice {
			faults = append(faults, fmt.Errorf("prices[%d].model: %s has a price already, in prices[%d]", i, Quote(entry.Model), first))
		}
		seen[entry.Model] = i
		p, wrong := compilePrice(entry)
		for _, err := range wrong {
			faults = append(faults, fmt.Errorf("prices[%d]%w", i, err))
		}
		compiled.prices = append(compiled.prices, p)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	slices.SortFunc(compiled.prices, moreSpecific)
	return compiled, nil
}

func compilePrice(entry Price) (price, []error) {
	var faults []error
	p := price{pattern: entry.Model, parts: strings.Split(entry.Model, "*"), nano: map[Meter]int64{}}
	if entry.Model == "" {
		faults = append(faults, errors.New(`.model: required, "*" stands for every model`))
	}
	if len(entry.PerMillionUSD) == 0 {
		faults = append(faults, errors.New(".perMillionUSD: required, at least one kind of token needs a price"))
	}
	for _, m := range slices.Sorted(maps.Keys(entry.PerMillionUSD)) {
		if !slices.Contains(tokenMeters, m) {
			faults = append(faults, fmt.Errorf(".perMillionUSD: %s is no kind of token, want one of %v", Quote(string(m)), tokenMeters))
			continue
		}
		nano, err := ParseUSD(entry.PerMillionUSD[m])
		if err != nil {
			faults = append(faults, fmt.Errorf(".perMillionUSD.%s: %w", m, err))
		}
		p.nano[m] = nano
	}
	return p, faults
}

// tokenMeters are the meters that can have a price.
var tokenMeters = []Meter{InputTokens, OutputTokens, CacheReadTokens, CacheWriteTokens, ReasoningTokens}

// moreSpecific orders a name before a pattern, then by the length of the text
// that is fixed, then by name.
func moreSpecific(a, b price) int {
	stars := func(p price) int { return min(1, len(p.parts)-1) }
	fixed := func(p price) int { return len(p.pattern) - len(p.parts) + 1 }
	return cmp.Or(
		cmp.Compare(stars(a), stars(b)),
		cmp.Compare(fixed(b), fixed(a)),
		cmp.Compare(a.pattern, b.pattern),
	)
}

// matches reports whether the pattern matches a whole name.
func (p price) matches(model string) bool {
	first, rest := p.parts[0], p.parts[1:]
	model, ok := strings.CutPrefix(model, first)
	if len(rest) == 0 || !ok {
		return ok && model == ""
	}
	for _, part := range rest[:len(rest)-1] {
		i := strings.Index(model, part)
		if i < 0 {
			return false
		}
		model = model[i+len(part):]
	}
	return strings.HasSuffix(model, rest[len(rest)-1])
}

// Cost prices the tokens of a task that ran on model and gives nano-USD,
// rounded up once. Of several patterns that match, a name without '*' wins,
// then the one with the most fixed text.
//
// It is an error, and the cost stays unknown, when no price matches, when
// input or output tokens have a price and are absent, when tokens were used
// that have no price, when cached or reasoning tokens are reported and counts
// does not say whether they are included, when included counts are larger than
// the one that contains them, when a count is negative, and when the cost is
// more than 9223372036.854775807 dollars. Included tokens without a price of
// their own cost what the count that contains them costs. Meters that are no
// tokens play no part.
func (l *PriceList) Cost(model string, tokens Amounts, counts TokenCounts) (int64, error) {
	p, err := l.find(model)
	if err != nil {
		return 0, err
	}
	bill := bill{price: p, tokens: Amounts{}}
	if err := bill.start(tokens); err != nil {
		return 0, err
	}
	if err := bill.split(InputTokens, counts.Cached, "Cached", tokens, CacheReadTokens, CacheWriteTokens); err != nil {
		return 0, err
	}
	if err := bill.split(OutputTokens, counts.Reasoning, "Reasoning", tokens, ReasoningTokens); err != nil {
		return 0, err
	}
	return bill.total()
}

func (l *PriceList) find(model string) (price, error) {
	if l != nil {
		for _, p := range l.prices {
			if p.matches(model) {
				return p, nil
			}
		}
	}
	return price{}, fmt.Errorf("no price for model %s", Quote(model))
}

// bill is what is charged for a task: disjoint kinds of tokens at one price list entry.
type bill struct {
	price  price
	tokens Amounts
}

// start puts the input and output tokens on the bill.
func (b *bill) start(tokens Amounts) error {
	for _, m := range tokenMeters {
		if n := tokens[m]; n < 0 {
			return fmt.Errorf("%d %s: %w", n, m, errNegative)
		}
	}
	for _, m := range []Meter{InputTokens, OutputTokens} {
		n, known := tokens[m]
		if _, priced := b.price.nano[m]; priced && !known {
			return fmt.Errorf("%s have a price (%s) and were not reported", m, Quote(b.price.pattern))
		}
		b.tokens[m] = n
	}
	return nil
}

// split puts the parts of a count on the bill, each once. The field of
// TokenCounts says whether they are included.
func (b *bill) split(whole Meter, inclusion Inclusion, field string, tokens Amounts, parts ...Meter) error {
	room := tokens[whole]
	for _, part := range parts {
		n := tokens[part]
		if n == 0 {
			continue
		}
		_, priced := b.price.nano[part]
		switch {
		case inclusion == Included && n > room:
			return fmt.Errorf("%d %s can't be part of %d %s", n, part, tokens[whole], whole)
		case inclusion == Included && priced:
			room -= n
			b.tokens[whole] -= n
			b.tokens[part] = n
		case inclusion == Included:
			room -= n // They stay in the count that contains them, at its price.
		case inclusion == Separate:
			b.tokens[part] = n
		default:
			return fmt.Errorf("%d %s: it is not said whether %s include them: set %s of the completion's Tokens to Included or Separate", n, part, whole, field)
		}
	}
	return nil
}

// total is the sum in nano-USD, rounded up once.
func (b *bill) total() (int64, error) {
	var high, low uint64 // nano-USD times a million
	for _, m := range tokenMeters {
		n := b.tokens[m]
		nano, priced := b.price.nano[m]
		if n > 0 && !priced {
			return 0, fmt.Errorf("%d %s have no price under %s", n, m, Quote(b.price.pattern))
		}
		h, l := bits.Mul64(uint64(n), uint64(nano)) //nolint:gosec // neither is negative
		if h >= tokensPerPrice {
			return 0, errCostTooLarge
		}
		var carry uint64
		low, carry = bits.Add64(low, l, 0)
		high += h + carry
	}
	low, carry := bits.Add64(low, tokensPerPrice-1, 0)
	high += carry
	if high >= tokensPerPrice {
		return 0, errCostTooLarge
	}
	nano, _ := bits.Div64(high, low, tokensPerPrice)
	if nano > math.MaxInt64 {
		return 0, errCostTooLarge
	}
	return int64(nano), nil
}

var errCostTooLarge = errors.New("the tokens cost more than " + maxUSD + " dollars")
