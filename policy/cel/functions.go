package cel

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
)

// functions are bursar's own: pure, total apart from errors, and with a cost
// that grows at most with the length of their text.
func functions() []cel.EnvOption {
	return []cel.EnvOption{
		textToInt("usd", parseUSD),
		textToInt("cpu", parseCPU),
		textToInt("bytes", parseBytes),
		cel.Function("permille", cel.Overload("permille_int_int", []*cel.Type{cel.IntType, cel.IntType}, cel.IntType,
			binary(func(part, whole types.Int) ref.Val {
				n, err := permille(int64(part), int64(whole))
				return intOr(n, err)
			}))),
		cel.Function("money", cel.Overload("money_int", []*cel.Type{cel.IntType}, cel.StringType,
			unary(func(micros types.Int) ref.Val { return types.String(money(int64(micros))) }))),
		textToText("lowerAscii", lowerASCII),
		textToText("trim", strings.TrimSpace),
		cel.Function("split", cel.MemberOverload("string_split_string", []*cel.Type{cel.StringType, cel.StringType}, cel.ListType(cel.StringType),
			binary(func(text, sep types.String) ref.Val {
				return types.NewStringList(types.DefaultTypeAdapter, strings.Split(string(text), string(sep)))
			}))),
	}
}

// unary binds a function of one operand. The checker has proven the type of
// the operand or the library has refused the call, so that another type is the
// library's error and not a panic of ours.
func unary[A ref.Val](f func(A) ref.Val) cel.OverloadOpt {
	return cel.UnaryBinding(func(v ref.Val) ref.Val {
		if a, ok := v.(A); ok {
			return f(a)
		}
		return types.MaybeNoSuchOverloadErr(v)
	})
}

// binary is unary of two operands of one type.
func binary[A ref.Val](f func(a, b A) ref.Val) cel.OverloadOpt {
	return cel.BinaryBinding(func(v, w ref.Val) ref.Val {
		a, ok1 := v.(A)
		b, ok2 := w.(A)
		if ok1 && ok2 {
			return f(a, b)
		}
		return types.MaybeNoSuchOverloadErr(v)
	})
}

// readers are the functions that read text; their literals are checked when a
// policy is loaded.
var readers = map[string]func(string) (int64, error){"usd": parseUSD, "cpu": parseCPU, "bytes": parseBytes}

func textToInt(name string, parse func(string) (int64, error)) cel.EnvOption {
	return cel.Function(name, cel.Overload(name+"_string", []*cel.Type{cel.StringType}, cel.IntType,
		unary(func(text types.String) ref.Val {
			n, err := parse(string(text))
			return intOr(n, err)
		})))
}

func textToText(name string, f func(string) string) cel.EnvOption {
	return cel.Function(name, cel.MemberOverload("string_"+name, []*cel.Type{cel.StringType}, cel.StringType,
		unary(func(text types.String) ref.Val { return types.String(f(string(text))) })))
}

func intOr(n int64, err error) ref.Val {
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Int(n)
}

// parseUSD reads a plain decimal amount as micro-USD. Finer amounts are an
// error: nothing is rounded in a rule.
func parseUSD(text string) (int64, error) {
	whole, fraction, dotted := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	switch {
	case !digits(whole) || dotted && strings.Trim(text[len(whole)+1:], "0123456789") != "" || strings.HasSuffix(text, "."):
		return 0, fmt.Errorf("usd(%q): want a plain decimal, say \"12.50\"", short(text))
	case len(fraction) > 6:
		return 0, fmt.Errorf("usd(%q): is finer than a millionth of a dollar", short(text))
	}
	micros := strings.TrimLeft(whole+fraction+strings.Repeat("0", 6-len(fraction)), "0")
	if len(micros) > 18 {
		return 0, fmt.Errorf("usd(%q): is too large", short(text))
	}
	var n int64
	for i := range len(micros) {
		n = n*10 + int64(micros[i]-'0')
	}
	return n, nil
}

func digits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// parseCPU reads a Kubernetes quantity as thousandths of a core, rounded up.
func parseCPU(text string) (int64, error) {
	q, err := quantity("cpu", text)
	if err != nil {
		return 0, err
	}
	if q.CmpInt64(math.MaxInt64/1000) > 0 {
		return 0, fmt.Errorf("cpu(%q): is too large", short(text))
	}
	return q.MilliValue(), nil
}

// parseBytes reads a Kubernetes quantity as bytes, rounded up.
func parseBytes(text string) (int64, error) {
	q, err := quantity("bytes", text)
	if err != nil {
		return 0, err
	}
	if q.CmpInt64(math.MaxInt64) >= 0 {
		return 0, fmt.Errorf("bytes(%q): is too large", short(text))
	}
	return q.Value(), nil
}

// quantity parses a value of its own for each call: a quantity changes when it
// is read, and must not be shared.
func quantity(name, text string) (resource.Quantity, error) {
	if len(text) > 64 {
		return resource.Quantity{}, fmt.Errorf("%s(%q): is too long", name, short(text))
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return q, fmt.Errorf("%s(%q): is not a quantity, say \"500m\" or \"4Gi\"", name, short(text))
	}
	if q.Sign() < 0 {
		return q, fmt.Errorf("%s(%q): is negative", name, short(text))
	}
	return q, nil
}

// permille is part against whole in thousandths, rounded down.
func permille(part, whole int64) (int64, error) {
	if whole <= 0 {
		return 0, fmt.Errorf("permille(%d, %d): the whole must be above 0", part, whole)
	}
	if part <= 0 {
		return 0, nil
	}
	hi, lo := bits.Mul64(uint64(part), 1000)
	if hi >= uint64(whole) {
		return math.MaxInt64, nil
	}
	n, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(min(n, math.MaxInt64)), nil
}

// money writes micro-USD as dollars with two digits or as many as are needed.
func money(micros int64) string {
	sign, whole, rest := "", micros/1_000_000, micros%1_000_000
	if micros < 0 {
		sign, whole, rest = "-", -whole, -rest
	}
	fraction := strings.TrimRight(fmt.Sprintf("%06d", rest), "0")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return fmt.Sprintf("%s%d.%s USD", sign, whole, fraction)
}

func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

func short(text string) string {
	if len(text) > 40 {
		return strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
}
