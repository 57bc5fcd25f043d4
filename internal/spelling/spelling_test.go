package spelling_test

import (
	"testing"

	"github.com/bursar-dev/bursar/internal/spelling"
)

func TestDidYouMean(t *testing.T) {
	known := []string{"deny", "warn", "model", "usedPermille", "startsWith"}
	for word, want := range map[string]string{
		"denny": "; did you mean deny?", "dney": "; did you mean deny?", "den": "; did you mean deny?",
		"mdoel": "; did you mean model?", "startswith": "; did you mean startsWith?", "usedpermile": "; did you mean usedPermille?",
		"x": "", "": "", "region": "", "model": "",
	} {
		if got := spelling.DidYouMean(word, known); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}
