package policy_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/bursar-dev/bursar/policy"
)

func TestClean(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"plain text stays":               {"all is well", "all is well"},
		"lines become one":               {" a\r\nb\tc ", "a  b c"},
		"control characters go":          {"a\x00b\x1b[0m", "a b [0m"},
		"a right-to-left override goes":  {"abc\u202edef", "abcdef"},
		"broken UTF-8 is marked":         {"a\xffb", "a\uFFFDb"},
		"other scripts stay":             {"größer als 5 €", "größer als 5 €"},
		"long text is cut between runes": {strings.Repeat("é", 600), strings.Repeat("é", 510) + "…"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := policy.Clean(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestLabelSyntax(t *testing.T) {
	for _, good := range [][2]string{{"team", "a"}, {"bursar.dev/team", ""}, {"a", "A_b.c-1"}} {
		if !policy.ValidLabel(good[0], good[1]) {
			t.Errorf("%q was refused", good)
		}
	}
	for _, bad := range [][2]string{{"", "a"}, {"a b", ""}, {"/a", ""}, {"X.dev/a", ""}, {"a", "-b"}, {"a", "b."}, {"a/b/c", ""}, {"a", strings.Repeat("x", 64)}} {
		if policy.ValidLabel(bad[0], bad[1]) {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "\xff", strings.Repeat("…", 400)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := policy.Clean(text)
		if len(got) > policy.MaxMessage || !utf8.ValidString(got) || got != strings.TrimSpace(got) {
			t.Errorf("%q became %q", text, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("%q still holds control characters: %q", text, got)
		}
		if again := policy.Clean(got); again != got {
			t.Errorf("not stable: %q became %q", got, again)
		}
	})
}
