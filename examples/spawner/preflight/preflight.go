// Package preflight is the command of the same name: it judges the pod of a manifest in a live namespace and prints what will
// happen and why, as a table or as JSON.
package preflight

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/podspec/live"
)

// The exit codes.
const (
	admitted = 0
	failed   = 1
	misused  = 2
	refused  = 3
	unknown  = 4
)

type options struct {
	kubeconfig, namespace, file string
	asJSON, strict, offline     bool
	upstream                    bool
}

// Run is the program.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return admitted
	case err != nil:
		return misused
	}
	judgement, pod, err := o.judge(ctx, stdin)
	if pod == nil {
		tell(stderr, err)
		return failed
	}
	if err != nil {
		tell(stderr, "warning:", err)
	}
	if err := o.print(stdout, pod, judgement); err != nil {
		tell(stderr, err)
		return failed
	}
	switch judgement.Verdict {
	case podspec.Admit:
		return admitted
	case podspec.Reject:
		return refused
	default:
		return unknown
	}
}

// tell writes a line for a person; there is nobody else to tell if that fails.
func tell(stderr io.Writer, words ...any) { _, _ = fmt.Fprintln(stderr, words...) }

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("preflight", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file; the usual places if empty")
	flags.StringVar(&o.namespace, "namespace", "", "namespace; that of the manifest, or else of the kubeconfig, if empty")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON")
	flags.BoolVar(&o.strict, "strict", false, "refuse amounts that a LimitRange would make up")
	flags.BoolVar(&o.offline, "no-dry-run", false, "predict only, do not ask the API server")
	flags.BoolVar(&o.upstream, "pod-security-upstream", false, "the API server has no configuration of PodSecurity of its own")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() != 1 {
		err := errors.New("name one manifest, or - for the standard input")
		tell(stderr, err)
		return o, err
	}
	o.file = flags.Arg(0)
	return o, nil
}

// judge gives the pod that was judged; nil if it came to nothing.
func (o options) judge(ctx context.Context, stdin io.Reader) (live.Judgement, *corev1.Pod, error) {
	text, err := o.read(stdin)
	if err != nil {
		return live.Judgement{}, nil, err
	}
	pod, err := podOf(text)
	if err != nil {
		return live.Judgement{}, nil, fmt.Errorf("%s: %w", o.file, err)
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil)
	if o.namespace != "" {
		pod.Namespace = o.namespace
	} else if pod.Namespace == "" {
		if pod.Namespace, _, err = loaded.Namespace(); err != nil {
			return live.Judgement{}, nil, err
		}
	}
	config, err := loaded.ClientConfig()
	if err != nil {
		return live.Judgement{}, nil, err
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return live.Judgement{}, nil, err
	}
	checker := live.Checker{Offline: o.offline}
	if checker.Reader, err = live.NewReader(config, c); err != nil {
		return live.Judgement{}, nil, err
	}
	if o.upstream {
		checker.Reader.PodSecurity = podspec.Known(podspec.PodSecurityDefaults{})
	}
	if o.strict {
		checker.Options = append(checker.Options, podspec.StrictSizing())
	}
	judgement, err := checker.Check(ctx, pod)
	return judgement, pod, err
}

func (o options) read(stdin io.Reader) ([]byte, error) {
	if o.file == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(o.file)
}

// podOf finds the pod in a manifest: a Pod, or whatever has a pod template where Deployments and Jobs, or CronJobs, have it.
func podOf(text []byte) (*corev1.Pod, error) {
	var manifest struct {
		metav1.TypeMeta `json:",inline"`

		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     json.RawMessage   `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &manifest); err != nil {
		return nil, err
	}
	pod := &corev1.Pod{ObjectMeta: manifest.Metadata}
	switch manifest.Kind {
	case "Pod":
		return pod, yaml.UnmarshalStrict(manifest.Spec, &pod.Spec)
	case "":
		return nil, errors.New("it has no kind")
	}
	var spec struct {
		Template    *corev1.PodTemplateSpec `json:"template"`
		JobTemplate *struct {
			Spec struct {
				Template *corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		} `json:"jobTemplate"`
	}
	if err := yaml.Unmarshal(manifest.Spec, &spec); err != nil {
		return nil, err
	}
	if spec.JobTemplate != nil {
		spec.Template = spec.JobTemplate.Spec.Template
	}
	if spec.Template == nil {
		return nil, fmt.Errorf("a %s has no pod template that is known here", manifest.Kind)
	}
	pod.ObjectMeta = spec.Template.ObjectMeta
	pod.Namespace, pod.Name = manifest.Metadata.Namespace, manifest.Metadata.Name
	pod.Spec = spec.Template.Spec
	return pod, nil
}
