package podspec

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// target is a place that has resources: a container, or the pod level.
type target struct {
	path      string // "spec.containers[bot].resources"
	resources *corev1.ResourceRequirements
}

func at(list string, container *corev1.Container) target {
	return target{path: list + "[" + clip(container.Name) + "].resources", resources: &container.Resources}
}

// pair is request and limit of one resource; nil is absent.
type pair struct{ request, limit *resource.Quantity }

func pairOf(resources *corev1.ResourceRequirements, name corev1.ResourceName) pair {
	var p pair
	if q, ok := resources.Requests[name]; ok {
		p.request = &q
	}
	if q, ok := resources.Limits[name]; ok {
		p.limit = &q
	}
	return p
}

// fill brings the wanted amounts into a target by the plan's rule for existing ones, and asks that the required
// dimensions are all there afterwards. Size only tells where the amounts come from.
func (s *sizing) fill(t target, builder *builder, want corev1.ResourceRequirements, size Size) {
	for _, err := range builder.found {
		s.found.add(prefixed(t.path, err))
	}
	for _, name := range resourceNames(want) {
		had, wanted := pairOf(t.resources, name), pairOf(&want, name)
		source := "copied from the main container"
		if amount, ok := size.amounts[name]; ok {
			source = amount.source
		}
		s.settle(t, name, source, had, wanted, merge(s.plan.Existing, name, had, wanted))
	}
	s.ordered(t)
	if len(builder.found) == 0 {
		s.found.add(builder.complete(t.path, *t.resources))
	}
}

// ordered reports every request above its limit.
func (s *sizing) ordered(t target) {
	for _, name := range resourceNames(*t.resources) {
		if p := pairOf(t.resources, name); p.request != nil && p.limit != nil && p.request.Cmp(*p.limit) > 0 {
			s.found.add(exceeds(t.path+"."+clip(string(name)), *p.request, *p.limit))
		}
	}
}

// merge decides the pair that a resource ends with. It never takes an amount away: where only one half is wanted, which
// happens when a lone amount of the main container is copied, the other half stays.
func merge(existing Existing, name corev1.ResourceName, had, want pair) pair {
	if want.request == nil {
		want.request = want.limit
	}
	if existing == Override || had.request == nil && had.limit == nil {
		if want.limit == nil {
			want.limit = had.limit
		}
		return want
	}
	switch {
	case existing == RequireEqual: // what differs was reported as a fault already
		return pair{either(had.request, want.request), either(had.limit, want.limit)}
	case had.request == nil:
		return pair{had.limit, had.limit}
	case had.limit != nil || want.limit == nil:
		return had
	case !overcommits(name) || had.request.Cmp(*want.limit) > 0:
		return pair{had.request, had.request}
	}
	return pair{had.request, want.limit}
}

func either(first, second *resource.Quantity) *resource.Quantity {
	if first != nil {
		return first
	}
	return second
}

// settle writes a pair and reports on both halves of it.
func (s *sizing) settle(t target, name corev1.ResourceName, source string, had, want, now pair) {
	if s.plan.Existing == RequireEqual {
		s.compare(t.path+".requests."+string(name), had.request, want.request)
		s.compare(t.path+".limits."+string(name), had.limit, want.limit)
	}
	write(&t.resources.Requests, name, now.request)
	s.note(t.path+".requests."+string(name), source, had.request, want.request, now.request)
	write(&t.resources.Limits, name, now.limit)
	s.note(t.path+".limits."+string(name), source, had.limit, want.limit, now.limit)
}

// compare refuses an amount that differs from the wanted one.
func (s *sizing) compare(path string, had, want *resource.Quantity) {
	if had != nil && want != nil && had.Cmp(*want) != 0 {
		s.found.add(fault(ErrUnequal, path, had.String(), "differs from "+want.String()+", which the plan requires", ""))
	}
}

// write sets an amount, unless the same one is there in whatever spelling.
func write(list *corev1.ResourceList, name corev1.ResourceName, quantity *resource.Quantity) {
	switch {
	case quantity == nil:
	case *list == nil:
		*list = corev1.ResourceList{name: quantity.DeepCopy()}
	default:
		if had, ok := (*list)[name]; !ok || had.Cmp(*quantity) != 0 {
			(*list)[name] = quantity.DeepCopy()
		}
	}
}

// note reports what became of one amount.
func (s *sizing) note(path, source string, had, want, now *resource.Quantity) {
	if now == nil {
		return
	}
	entry := Entry{Path: path, Now: now.String(), Source: source}
	differs := want != nil && now.Cmp(*want) != 0
	if differs {
		entry.Wanted = want.String()
	}
	switch {
	case had == nil:
		entry.Action = ActionSet
	case had.Cmp(*now) != 0:
		entry.Action, entry.Had = ActionReplaced, had.String()
	case differs:
		entry.Action, entry.Had, entry.Source = ActionKept, had.String(), ""
	default:
		return
	}
	s.report.Entries = append(s.report.Entries, entry)
}

// prefixed puts the place of a container before the dimension of a fault.
func prefixed(path string, err error) error {
	wrong, ok := errors.AsType[*SizeError](err)
	if !ok {
		return err
	}
	placed := *wrong
	placed.Field = path + "." + wrong.Field
	return &placed
}
