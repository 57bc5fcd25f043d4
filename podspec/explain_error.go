package podspec

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExplainError explains why the creation of a pod failed. It looks through wrapped errors for the API server's status, and
// reads the text of it where the status says too little, which is most of the time: quotas, LimitRanges and PodSecurity
// have no machine-readable causes. Texts are those of Kubernetes and OpenShift, past and present, as they come from the
// server, from a webhook, or inside the message of another controller. What is not recognised is CategoryOther with its
// text in Original, never a guess. A nil error gives the zero Diagnosis.
func ExplainError(err error) Diagnosis {
	if err == nil {
		return Diagnosis{}
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		diagnosis := ExplainMessage(err.Error())
		var network interface{ Timeout() bool }
		if diagnosis.Category == CategoryOther && errors.As(err, &network) {
			diagnosis.set(CategoryNetwork, "the API server was not reached or did not answer in time", "try again; the pod may exist all the same, so look for it by its name first")
		}
		return diagnosis
	}
	s := status.Status()
	diagnosis := explain(s.Message, &s)
	diagnosis.Original = err.Error()
	return diagnosis
}

// ExplainMessage explains the text of a failure, as it stands in an event or a log. Without the status, refusals that are
// told apart by it alone are CategoryOther.
func ExplainMessage(text string) Diagnosis {
	diagnosis := explain(text, &metav1.Status{})
	diagnosis.Original = text
	return diagnosis
}

// parsers are tried in this order; the first that recognises its own shape answers.
var parsers = []func(text string, d *Diagnosis) bool{
	parseExceeded, parseMissing, parseUncounted, parseUncovered, parseQuotaTrouble,
	parseSecurity, parseSCC, parseLimitRange, parseClasses, parseSurroundings,
}

// explain takes a text apart. A webhook's words are explained as such, and its name is kept.
func explain(text string, status *metav1.Status) Diagnosis {
	d := Diagnosis{Category: CategoryOther, Retry: RetryNever, Message: text}
	spoken, webhook := unwrapWebhook(text)
	d.Webhook = webhook
	for _, parse := range parsers {
		if parse(spoken, &d) {
			d.advise()
			return d
		}
	}
	switch {
	case webhook != "":
		d.set(CategoryWebhook, "admission webhook or policy "+webhook+" refused the pod: "+spoken, "change what it asks for, or ask its owner")
	case !byStatus(status, &d):
		return d
	}
	d.advise()
	return d
}

// set fills in what a category says of itself.
func (d *Diagnosis) set(category Category, message, remedy string) {
	d.Category, d.Message, d.Remedy = category, message, remedy
	d.Retry = retryOf(category)
}

// advise corrects the usual advice by the figures: what is larger than the whole quota never fits.
func (d *Diagnosis) advise() {
	if d.Category != CategoryQuotaExceeded {
		return
	}
	for _, figure := range d.Figures {
		if figure.Need != nil && figure.Bound != nil && figure.Need.Cmp(*figure.Bound) > 0 {
			d.Retry = RetryNever
			d.Remedy = "the pod is larger than the whole quota: ask for less, or raise the quota"
		}
	}
}

// byStatus explains what the status alone tells.
func byStatus(status *metav1.Status, d *Diagnosis) bool {
	kind := ""
	if status.Details != nil {
		kind = status.Details.Kind
	}
	switch status.Reason {
	case metav1.StatusReasonInvalid:
		invalid(status, d)
	case metav1.StatusReasonAlreadyExists:
		d.set(CategoryAlreadyExists, "a pod of this name exists", "look for it by its name before creating it; the failed attempt was charged to the quotas until they are counted again")
	case metav1.StatusReasonTooManyRequests:
		d.set(CategoryThrottled, "the API server asks to slow down", "try again after the time it names")
	case metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout, metav1.StatusReasonServiceUnavailable:
		d.set(CategoryNetwork, "the API server did not answer in time", "try again; the pod may exist all the same, so look for it by its name first")
	case metav1.StatusReasonConflict:
		if kind != "resourcequotas" {
			return false
		}
		d.set(CategoryQuotaConflict, "the quota was written by others at the same time", "try again, later each time")
	case metav1.StatusReasonNotFound:
		if kind != "namespaces" && kind != "namespace" {
			return false
		}
		d.set(CategoryNamespaceMissing, "the namespace does not exist", "create it, or use another one")
	default:
		return byCode(status, d)
	}
	return true
}

// The HTTP codes that stand without a reason; their constants are in net/http, which a pure package does not import.
const (
	codeInvalid = 422
	codeTooMany = 429
)

// byCode explains what the HTTP code tells where there is no reason.
func byCode(status *metav1.Status, d *Diagnosis) bool {
	switch status.Code {
	case codeInvalid:
		invalid(status, d)
	case codeTooMany:
		d.set(CategoryThrottled, "the API server asks to slow down", "try again after the time it names")
	default:
		return false
	}
	return true
}

// invalid explains a 422 by its causes.
func invalid(status *metav1.Status, d *Diagnosis) {
	d.set(CategoryInvalid, "the pod itself is invalid", "correct the fields that are named")
	if status.Details == nil {
		return
	}
	d.Causes = status.Details.Causes
	parts := make([]string, 0, len(d.Causes))
	for _, cause := range d.Causes {
		parts = append(parts, cause.Field+": "+cause.Message)
	}
	if len(parts) > 0 {
		d.Message += ": " + strings.Join(parts, "; ")
	}
}
