package podspec

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// nearest maps spellings of a suffix, in lower case, to what was probably meant.
var nearest = map[string]string{
	"b": "", "bytes": "", "byte": "",
	"k": "Ki", "kb": "Ki", "kib": "Ki", "ki": "Ki",
	"m": "Mi", "mb": "Mi", "mib": "Mi", "mi": "Mi", "meg": "Mi",
	"g": "Gi", "gb": "Gi", "gib": "Gi", "gi": "Gi", "gig": "Gi",
	"t": "Ti", "tb": "Ti", "tib": "Ti", "ti": "Ti",
	"p": "Pi", "pb": "Pi", "pib": "Pi", "pi": "Pi",
	"core": "", "cores": "", "cpu": "", "cpus": "", "vcpu": "", "vcpus": "",
	"millicores": "m", "millicore": "m", "mcpu": "m", "mc": "m",
}

// cut separates a leading decimal number from the word behind it.
func cut(text string) (figure, word string) {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.') {
		end++
	}
	return text[:end], strings.TrimSpace(text[end:])
}

// spellingHint names the nearest legal spelling of a text that is no quantity, as well as it can be told.
func spellingHint(name corev1.ResourceName, text string) string {
	if !plainText(text) {
		return "write ASCII digits with an optional suffix, such as " + sample(name)
	}
	figure, word := cut(text)
	if comma := decimalComma(text); comma != "" {
		return "a decimal comma is not understood, write " + comma
	}
	if strings.Contains(text, "_") {
		return "digits cannot be grouped, write " + strings.ReplaceAll(text, "_", "")
	}
	suffix, known := nearest[strings.ToLower(word)]
	if figure == "" || !known || (name == corev1.ResourceCPU) != (suffix == "m") && suffix != "" {
		return "write a quantity such as " + sample(name)
	}
	if decimal := strings.TrimSuffix(suffix, "i"); decimal != suffix && strings.ContainsAny(word, "bBKk") {
		if decimal == "K" {
			decimal = "k"
		}
		return "write " + figure + suffix + " (or " + figure + decimal + " for powers of ten)"
	}
	return "write " + figure + suffix
}

// plainText says whether a text is short and ASCII, so that a hint may repeat parts of it.
func plainText(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 || text[i] < 0x20 {
			return false
		}
	}
	return len(text) <= maxText
}

// decimalComma gives the text with its comma as a point, if that makes a number.
func decimalComma(text string) string {
	if strings.Count(text, ",") != 1 {
		return ""
	}
	pointed := strings.Replace(text, ",", ".", 1)
	if _, ok := scan(pointed); !ok {
		return ""
	}
	return pointed
}

func sample(name corev1.ResourceName) string {
	switch {
	case name == corev1.ResourceCPU:
		return "0.5 or 500m"
	case isDevice(name):
		return "1"
	}
	return "512Mi"
}

// mebibyteHint answers a text with a unit where the unit is fixed.
func mebibyteHint(d *Dimension) string {
	if !plainText(d.text) {
		return "write ASCII digits only, such as 1024"
	}
	figure, word := cut(d.text)
	suffix := nearest[strings.ToLower(word)]
	if d.sibling == "" {
		if count, ok := mebibytes(figure, suffix); ok {
			return "write " + count
		}
		return "write MiB in digits, such as 512"
	}
	whole := figure != "" && !strings.Contains(figure, ".")
	switch {
	case whole && suffix == "Mi":
		return "write " + figure + ", or " + figure + "Mi in " + d.sibling
	case whole && suffix != "" && suffix != "m":
		return "a quantity belongs in " + d.sibling + ", as " + figure + suffix
	}
	return "a quantity belongs in " + d.sibling + ", such as 512Mi"
}

// mebibytes is a figure of that suffix in MiB, where that is a whole number of sane length.
func mebibytes(figure, suffix string) (string, bool) {
	shift, known := map[string]int{"Mi": 0, "Gi": 10, "Ti": 20}[suffix]
	count, err := strconv.ParseUint(figure, 10, 32)
	if !known || err != nil {
		return "", false
	}
	return strconv.FormatUint(count<<shift, 10), true
}

// byteHint answers an amount of bytes with a fraction. A milli suffix is a slip for Mi.
func byteHint(text string) string {
	figure, word := cut(text)
	switch word {
	case "m":
		return "m means a thousandth of a byte, write " + figure + "Mi"
	case "":
		return "a number without suffix is bytes, write " + figure + "Mi or a whole number"
	}
	return "write a finer suffix, so that the number is whole"
}

// smallHint answers a memory amount below its floor: a number without suffix is bytes.
func smallHint(d Dimension) string {
	if isDevice(d.name) || d.name == corev1.ResourceCPU || d.unit == unitMiB {
		return ""
	}
	if figure, word := cut(d.text); word == "" && figure != "" {
		return "a number without suffix is bytes, write " + figure + "Mi if MiB are meant"
	}
	return ""
}
