package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Digest is the SHA-256 of a folder of policies, in hexadecimal: of names and
// contents, in order of the names. Loaders compare it with a pin.
func Digest(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h.Write(fmt.Appendf(nil, "%d %q %d\n", len(name), name, len(files[name])))
		h.Write(files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// CheckDigest compares the digest of files with a pin. An empty pin accepts
// everything.
func CheckDigest(files map[string][]byte, pin string) error {
	if have := Digest(files); pin != "" && have != pin {
		return LoadErrors{{Text: fmt.Sprintf("the policies have the digest %s, want %s", have, clip(pin))}}
	}
	return nil
}
