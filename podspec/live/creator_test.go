package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/bursar-dev/bursar/podspec/live"
)

func forbidden(text string) error {
	return apierrors.NewForbidden(podsResource, "bot", errors.New(text))
}

func TestCreatorTriesAgainWhereTimeHelps(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "team", errors.New("the object has been modified"))
	timeout := apierrors.NewInternalError(errors.New("resource quota evaluation timed out"))
	internal := apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
	exists := apierrors.NewAlreadyExists(podsResource, "bot")
	uncovered := &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500, Message: "insufficient quota to match these scopes: [{PriorityClass In [high]}]"}}
	for sentence, c := range map[string]struct {
		steps   []step
		creates int
		waits   []time.Duration
		charged int
		adopted bool
		fails   bool
	}{
		"it just works":                              {nil, 1, nil, 0, false, false},
		"a quota was written by others":              {[]step{{err: conflict}}, 2, []time.Duration{time.Second}, 0, false, false},
		"a quota took too long, twice":               {[]step{{err: timeout}, {err: timeout}}, 3, []time.Duration{time.Second, 2 * time.Second}, 0, false, false},
		"a quota is not counted yet":                 {[]step{{err: forbidden("status unknown for quota: team, resources: limits.cpu")}}, 2, []time.Duration{time.Second}, 0, false, false},
		"the server failed":                          {[]step{{err: internal}}, 2, []time.Duration{time.Second}, 1, false, false},
		"the server names a time":                    {[]step{{err: apierrors.NewTooManyRequests("slow down", 7)}}, 2, []time.Duration{7 * time.Second}, 0, false, false},
		"the answer was lost and the pod is there":   {[]step{{err: context.DeadlineExceeded, stored: true}}, 1, []time.Duration{time.Second}, 1, true, false},
		"somebody was faster":                        {[]step{{err: exists, stored: true}}, 1, nil, 1, true, false},
		"the attempts end":                           {[]step{{err: conflict}, {err: conflict}, {err: conflict}, {err: conflict}}, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, 0, false, true},
		"a full quota is not stormed":                {[]step{{err: forbidden("exceeded quota: team, requested: limits.cpu=1, used: limits.cpu=4, limited: limits.cpu=4")}}, 1, nil, 0, false, true},
		"an unsized pod is not sent again":           {[]step{{err: forbidden("failed quota: team: must specify limits.cpu for: main")}}, 1, nil, 0, false, true},
		"a scope that no quota covers is no failure": {[]step{{err: uncovered}}, 1, nil, 0, false, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, watch := &stub{steps: c.steps}, &stopwatch{}
			made, err := creator(s, watch).Create(t.Context(), wanted())
			if (err != nil) != c.fails {
				t.Fatalf("got %v", err)
			}
			if _, explained := errors.AsType[*live.RefusedError](err); c.fails && !explained {
				t.Errorf("the failure is not explained: %v", err)
			}
			if s.creates != c.creates || made.Attempts != c.creates || made.Charged != c.charged || made.Adopted != c.adopted {
				t.Errorf("%d creates, %+v", s.creates, made)
			}
			if diff := cmp.Diff(c.waits, watch.waits); diff != "" {
				t.Error(diff)
			}
			if (made.Pod == nil) != c.fails || s.gets < s.creates {
				t.Errorf("pod %v, %d looks before %d creates", made.Pod, s.gets, s.creates)
			}
		})
	}
}

func TestCreatorLooksBeforeItCreates(t *testing.T) {
	other, ending := wanted(), wanted()
	other.Labels["bursar.dev/workload-id"] = "another"
	ending.DeletionTimestamp = new(metav1.Now())
	bare := wanted()
	bare.Labels = nil
	for sentence, c := range map[string]struct {
		stored *corev1.Pod
		owns   func(found, wanted *corev1.Pod) bool
		want   error
	}{
		"its own pod is adopted":                    {wanted(), nil, nil},
		"a pod with other labels is foreign":        {other, nil, live.ErrForeign},
		"unless the caller says otherwise":          {other, func(*corev1.Pod, *corev1.Pod) bool { return true }, nil},
		"a pod without labels is foreign":           {bare, nil, live.ErrForeign},
		"a pod that is being deleted is waited for": {ending, nil, live.ErrTerminating},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, watch := &stub{stored: c.stored}, &stopwatch{}
			maker := creator(s, watch)
			maker.Owns = c.owns
			made, err := maker.Create(t.Context(), wanted())
			if !errors.Is(err, c.want) || s.creates != 0 || made.Adopted != (c.want == nil) {
				t.Errorf("got %+v, %v after %d creates", made, err, s.creates)
			}
			if wantWaits := map[error]int{live.ErrTerminating: 3}[c.want]; len(watch.waits) != wantWaits {
				t.Errorf("waited %v", watch.waits)
			}
		})
	}
}

func TestCreatorNeedsAName(t *testing.T) {
	for _, pod := range []*corev1.Pod{nil, {}, {ObjectMeta: metav1.ObjectMeta{Namespace: "agents", GenerateName: "bot-"}}, {ObjectMeta: metav1.ObjectMeta{Name: "bot"}}} {
		s := &stub{}
		if _, err := creator(s, &stopwatch{}).Create(t.Context(), pod); err == nil || s.creates+s.gets > 0 {
			t.Errorf("%v: %v", pod, err)
		}
	}
}

func TestCreatorStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the spawner ends"))
	s := &stub{steps: []step{{err: apierrors.NewInternalError(errors.New("x"))}}}
	_, err := live.Creator{Client: s}.Create(ctx, wanted())
	if _, explained := errors.AsType[*live.RefusedError](err); !explained || s.creates != 1 {
		t.Errorf("got %v after %d creates", err, s.creates)
	}
}
