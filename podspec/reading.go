package podspec

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
)

// exact reads what was written into an exact fraction of cores, bytes or devices.
func (d *Dimension) exact() (*big.Rat, error) {
	switch d.unit {
	case unitCores:
		if math.IsNaN(d.cores) || math.IsInf(d.cores, 0) {
			return nil, fault(ErrNotFinite, d.at(), d.text, "", "")
		}
		return new(big.Rat).SetFloat64(d.cores), nil
	case unitExact:
		value, err := exactQuantity(d.quantity)
		if err != nil {
			return nil, fault(ErrNotFinite, d.at(), "", "is a quantity beyond any real amount", "")
		}
		d.text = d.quantity.String()
		return value, nil
	case unitMiB:
		return d.mebibytes()
	default:
		return d.parsed()
	}
}

// mebibytes reads a whole number of MiB. The unit is fixed: a suffix, a fraction or an exponent is refused, because a
// reader who takes MB for a quantity would get bytes.
func (d *Dimension) mebibytes() (*big.Rat, error) {
	whole, rest := digits(strings.TrimPrefix(d.text, "-"))
	if whole == "" || rest != "" {
		if err := d.wordFault(); err != nil {
			return nil, err
		}
		sentinel := ErrSyntax
		if n, ok := d.scanned(); ok && n.suffix == "" {
			sentinel = ErrFraction
		}
		return nil, fault(sentinel, d.at(), d.text, "must be a whole number of MiB without a suffix", mebibyteHint(d))
	}
	if len(d.text) > maxText {
		return nil, fault(ErrAboveMaximum, d.at(), d.text, "", "")
	}
	count, _ := new(big.Int).SetString(d.text, 10)
	return new(big.Rat).SetInt(count.Lsh(count, 20)), nil
}

// parsed reads a decimal or a quantity.
func (d *Dimension) parsed() (*big.Rat, error) {
	n, ok := d.scanned()
	if !ok {
		if err := d.wordFault(); err != nil {
			return nil, err
		}
		return nil, fault(ErrSyntax, d.at(), d.text, "is not a quantity", spellingHint(d.name, d.text))
	}
	if strings.HasSuffix(n.suffix, "i") && (d.name == corev1.ResourceCPU || isDevice(d.name)) {
		return nil, fault(ErrSyntax, d.at(), d.text, "has a suffix of bytes", "write a plain number")
	}
	return n.scaled(), nil
}

// scanned applies the number grammar to texts of a sane length.
func (d *Dimension) scanned() (number, bool) {
	if len(d.text) > maxText || !utf8.ValidString(d.text) {
		return number{}, false
	}
	return scan(d.text)
}

// wordFault recognises words that stand for no number: an infinity, or the way templates print a missing value.
func (d *Dimension) wordFault() error {
	switch strings.ToLower(strings.TrimLeft(d.text, "+-")) {
	case "nan", "inf", "infinity", ".nan", ".inf":
		return fault(ErrNotFinite, d.at(), d.text, "", "")
	case "null", "<nil>", "nil", "none", "undefined", "<no value>", "~":
		return fault(ErrSyntax, d.at(), d.text, "is how a template prints a missing value", "leave the text empty to leave the amount unset")
	}
	return nil
}

// fraction explains an amount that is not whole.
func (d *Dimension) fraction() error {
	if isDevice(d.name) {
		return fault(ErrFraction, d.at(), d.text, "is not a whole number of devices", "devices cannot be shared by fractions")
	}
	return fault(ErrFraction, d.at(), d.text, "is not a whole number of bytes", byteHint(d.text))
}
