package podspec

import (
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

// Sources of amounts that come from neither size nor main container.
const (
	fromMain       = "copied from the main container"
	fromOwnLimit   = "its own limit"
	fromOwnRequest = "its own request"
)

// fill brings the wanted amounts into a target by the plan's rule for existing ones, and asks that the required
// dimensions are all there afterwards. Size only tells where the amounts come from.
func (s *sizing) fill(t target, builder *builder, want corev1.ResourceRequirements, size Size) {
	for _, wrong := range builder.found {
		s.found.add(prefixed(t.path, wrong))
	}
	for _, name := range resourceNames(want) {
		had, wanted := pairOf(t.resources, name), pairOf(&want, name)
		source := fromMain
		if amount, ok := size.amounts[name]; ok {
			source = amount.source
		}
		if builder.zero == ZeroUnset {
			had = had.declared()
		}
		if !s.mergeable(t, builder, name, had, wanted) {
			continue
		}
		s.settle(t, name, source, had, wanted, merge(s.plan.Existing, name, had, wanted))
	}
	for _, name := range resourceNames(*t.resources) {
		if !builder.wrong[name] {
			s.sound(t, builder, name)
		}
	}
	s.found.add(builder.complete(t.path, *t.resources))
}

// mergeable reports what keeps an amount that is there from being merged with the wanted one. An amount that is replaced may
// be anything.
func (s *sizing) mergeable(t target, builder *builder, name corev1.ResourceName, had, want pair) bool {
	switch s.plan.Existing {
	case Override:
		return true
	case RequireEqual:
		before := len(s.found)
		s.compare(t.path+".requests."+string(name), had.request, want.request)
		s.compare(t.path+".limits."+string(name), had.limit, want.limit)
		builder.wrong[name] = len(s.found) > before
	case KeepExisting:
	}
	return !builder.wrong[name] && s.sound(t, builder, name)
}

// declared is a pair without its zeros.
func (p pair) declared() pair {
	if p.request != nil && p.request.IsZero() {
		p.request = nil
	}
	if p.limit != nil && p.limit.IsZero() {
		p.limit = nil
	}
	return p
}

// sound reports, of the amounts that are in a target, negative ones, requests above their limits, and limits of zero where
// zero has no meaning. What is reported is marked as wrong.
func (s *sizing) sound(t target, builder *builder, names ...corev1.ResourceName) bool {
	before := len(s.found)
	for _, name := range names {
		p, at := pairOf(t.resources, name), "."+clip(string(name))
		if builder.zero == ZeroUnset {
			p = p.declared()
		}
		found := len(s.found)
		s.positive(t.path+".requests"+at, p.request)
		s.positive(t.path+".limits"+at, p.limit)
		zero := p.limit != nil && p.limit.IsZero()
		switch {
		case len(s.found) > found:
		case p.request != nil && p.limit != nil && p.request.Cmp(*p.limit) > 0:
			s.found.add(exceeds(t.path+at, *p.request, *p.limit))
		case zero && builder.zero == ZeroDefault && !isDevice(name):
			s.found.add(fault(ErrZero, t.path+".limits"+at, p.limit.String(), "", "it counts as declared and limits nothing: remove it, set it, or declare what zero means with WithZero"))
		}
		builder.wrong[name] = builder.wrong[name] || len(s.found) > found
	}
	return len(s.found) == before
}

// positive reports a negative amount.
func (s *sizing) positive(path string, amount *resource.Quantity) {
	if amount != nil && amount.Sign() < 0 {
		s.found.add(fault(ErrNegative, path, amount.String(), "", "the API server refuses negative amounts"))
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
	ofRequest, ofLimit := source, source
	if now.request != nil && now.request == had.limit {
		ofRequest = fromOwnLimit
	}
	if now.limit != nil && now.limit == had.request {
		ofLimit = fromOwnRequest
	}
	was := pairOf(t.resources, name)
	write(&t.resources.Requests, name, now.request)
	s.note(t.path+".requests."+string(name), ofRequest, was.request, want.request, now.request)
	write(&t.resources.Limits, name, now.limit)
	s.note(t.path+".limits."+string(name), ofLimit, was.limit, want.limit, now.limit)
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
func prefixed(path string, wrong *SizeError) error {
	placed := *wrong
	placed.Field = path + "." + wrong.Field
	return &placed
}
