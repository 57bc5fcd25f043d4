package apiserver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// The binaries that can be built.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

// Usual gives the binaries that every integration test may count on.
func Usual() []string { return []string{Etcd, APIServer, ControllerManager} }

// Versions are the releases that the modules kubernetes and etcd pin, with the leading v.
type Versions struct {
	Kubernetes, Etcd string
}

// A recipe is all that decides what a binary will be.
type recipe struct {
	versions Versions
	// sources is the absolute path of the folder that holds the two modules.
	sources string
	digest  string
}

const buildFlags = "-trimpath -buildvcs=false"

func newRecipe(sources string) (recipe, error) {
	absolute, err := filepath.Abs(sources)
	if err != nil {
		return recipe{}, err
	}
	r := recipe{sources: absolute}
	digest := sha256.New()
	for _, file := range []string{"kubernetes/go.mod", "kubernetes/go.sum", "etcd/go.mod", "etcd/go.sum"} {
		text, err := os.ReadFile(filepath.Join(absolute, filepath.FromSlash(file)))
		if err != nil {
			return recipe{}, fmt.Errorf("the modules that pin the API server: %w", err)
		}
		digest.Write(text)
		switch file {
		case "kubernetes/go.mod":
			r.versions.Kubernetes, err = required(string(text), "k8s.io/kubernetes")
		case "etcd/go.mod":
			r.versions.Etcd, err = required(string(text), "go.etcd.io/etcd/server/v3")
		}
		if err != nil {
			return recipe{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	digest.Write([]byte(buildFlags + r.linkerFlags(APIServer) + r.linkerFlags(Etcd)))
	r.digest = hex.EncodeToString(digest.Sum(nil))[:8]
	return r, nil
}

// required gives the version at which a go.mod file requires a module.
func required(gomod, module string) (string, error) {
	found := regexp.MustCompile(`(?m)^(?:require)?\s+` + regexp.QuoteMeta(module) + `\s+(v\d+\.\d+\.\d+\S*)`).FindStringSubmatch(gomod)
	if found == nil {
		return "", fmt.Errorf("no release of %s is required", module)
	}
	return found[1], nil
}

// folder is the name of the folder that holds what this recipe gives.
func (r recipe) folder() string {
	return strings.Join([]string{
		"kubernetes-" + r.versions.Kubernetes, "etcd-" + r.versions.Etcd,
		runtime.GOOS, runtime.GOARCH, strings.ReplaceAll(runtime.Version(), " ", "_"), r.digest,
	}, "_")
}

// arguments are those of the go command that builds a binary into file; directory is where it must run.
func (r recipe) arguments(binary, file string) (arguments []string, directory string) {
	module, main := "kubernetes", "k8s.io/kubernetes/cmd/"+binary
	if binary == Etcd {
		module, main = "etcd", "go.etcd.io/etcd/server/v3"
	}
	arguments = append([]string{"build", "-v"}, strings.Fields(buildFlags)...)
	arguments = append(arguments, "-ldflags", r.linkerFlags(binary), "-o", file, main)
	return arguments, filepath.Join(r.sources, module)
}

// linkerFlags strip a binary and stamp its version: without the stamp a Kubernetes binary says v0.0.0-master, and whoever
// reads the server's minor version stumbles.
func (r recipe) linkerFlags(binary string) string {
	if binary == Etcd {
		return "-s -w"
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(r.versions.Kubernetes, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	const stamp = " -X k8s.io/component-base/version."
	return "-s -w" + stamp + "gitVersion=" + r.versions.Kubernetes + stamp + "gitMajor=" + major + stamp + "gitMinor=" + minor +
		stamp + "gitTreeState=clean"
}

// version is what a binary must say of itself.
func (r recipe) version(binary string) string {
	if binary == Etcd {
		return strings.TrimPrefix(r.versions.Etcd, "v")
	}
	return strings.TrimPrefix(r.versions.Kubernetes, "v")
}
