package differential_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/bursar-dev/bursar/internal/integration/cluster"
)

var shared cluster.Cluster

func TestMain(m *testing.M) {
	var options cluster.Options
	if minor := os.Getenv("BURSAR_MINOR"); minor != "" {
		options.APIServerFlags = map[string][]string{"emulated-version": {"kube=1." + minor}}
	}
	os.Exit(shared.Main(m, options))
}

// number reads a whole number from the environment.
func number(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", variable, err))
	}
	return value
}
