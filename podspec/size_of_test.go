package podspec_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

func TestSizeOf(t *testing.T) {
	list := func(pairs ...string) corev1.ResourceList {
		l := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return l
	}
	tests := map[string]struct {
		requests, limits corev1.ResourceList
		want             string
		err              error
	}{
		"equal request and limit are a size": {list("cpu", "1", "memory", "1Gi"), list("cpu", "1000m", "memory", "1Gi"), "cpu=1 (spec), memory=1Gi (spec)", nil},
		"a lone limit is its own request":    {nil, list("cpu", "1"), "cpu=1 (spec)", nil},
		"a lone request has no size":         {list("cpu", "1"), nil, "", podspec.ErrUnequal},
		"a smaller request has no size":      {list("cpu", "1"), list("cpu", "2"), "", podspec.ErrUnequal},
		"a larger request is impossible":     {list("cpu", "1"), list("cpu", "200m"), "", podspec.ErrRequestExceedsLimit},
		"zero is kept":                       {nil, list("cpu", "0"), "cpu=0 (spec)", nil},
		"an impossible name":                 {nil, list("gpu", "1"), "", podspec.ErrResourceName},
		"nothing is the zero size":           {nil, nil, "(nothing set)", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			size, err := podspec.SizeOf(corev1.ResourceRequirements{Requests: test.requests, Limits: test.limits}, "spec")
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if err == nil && size.String() != test.want {
				t.Errorf("got %v, want %v", size, test.want)
			}
		})
	}
}

func TestErrorsClipForeignText(t *testing.T) {
	_, err := podspec.NewSize(podspec.CPU("x" + strings.Repeat("ä", 1000)))
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
	_, err = podspec.NewSize(podspec.Devices(corev1.ResourceName(strings.Repeat("x", 5000)), 1))
	if err == nil || len(err.Error()) > 500 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
}
