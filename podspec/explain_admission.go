package podspec

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Shapes of the other admission plugins.
var (
	boundShape    = regexp.MustCompile(`(minimum|maximum) ([^\s\[]+) usage per ([A-Za-z]+) is (\S+?)(?:\.  No (request|limit) is specified|, but (request|limit) is ([^\s,\]]+))`)
	ratioShape    = regexp.MustCompile(`([^\s\[]+) max limit to request ratio per ([A-Za-z]+) is (\S+?), but (no (request|limit) is specified or (?:request|limit) is 0|provided ratio is ([0-9.]+|\+Inf|NaN))`)
	securityShape = regexp.MustCompile(`violates PodSecurity "([^"]+)": (.+)$`)
	sccShape      = regexp.MustCompile(`(?s)unable to validate against any security context constraint: \[(.*)\]`)
	providerShape = regexp.MustCompile(`provider "?([a-zA-Z0-9.-]+)"?: `)
	webhookShape  = regexp.MustCompile(`(?s)(?:admission webhook "([^"]+)" denied the request(?: without explanation)?|ValidatingAdmissionPolicy '([^']+)' with binding '[^']*' denied request)(?:: (.*))?$`)
	failedShape   = regexp.MustCompile(`(?s)failed calling webhook "([^"]+)": (.*)$`)
	classShape    = regexp.MustCompile(`no PriorityClass with name (\S+) was found`)
	runtimeShape  = regexp.MustCompile(`pod rejected: RuntimeClass "([^"]+)" not found`)
	accountShape  = regexp.MustCompile(`error looking up service account ([^\s:]+): `)
	endingShape   = regexp.MustCompile(`in namespace (\S+) because it is being terminated`)
	rbacShape     = regexp.MustCompile(`is forbidden: User "([^"]+)" cannot (\S+) resource "([^"]+)"`)
)

// unwrapWebhook separates what a webhook or policy said from the words around it.
func unwrapWebhook(text string) (spoken, name string) {
	match := webhookShape.FindStringSubmatch(text)
	if match == nil {
		return text, ""
	}
	return match[3], match[1] + match[2]
}

func parseLimitRange(text string, d *Diagnosis) bool {
	bounds, ratios := boundShape.FindAllStringSubmatch(text, -1), ratioShape.FindAllStringSubmatch(text, -1)
	if len(bounds)+len(ratios) == 0 {
		return false
	}
	var parts []string
	for _, match := range bounds {
		field := match[5] + match[6] + "s"
		d.Figures = append(d.Figures, Figure{Resource: corev1.ResourceName(match[2]), Field: field, Have: quantityIn(match[7]), Bound: quantityIn(match[4])})
		parts = append(parts, match[0])
	}
	for _, match := range ratios {
		d.Figures = append(d.Figures, Figure{Resource: corev1.ResourceName(match[1]), Field: "ratio", Have: quantityIn(match[6]), Bound: quantityIn(match[3])})
		parts = append(parts, match[0])
	}
	d.set(CategoryLimitRange, "a LimitRange of the namespace forbids the amounts: "+strings.Join(parts, "; "), "stay within its bounds, or change it")
	return true
}

func parseSecurity(text string, d *Diagnosis) bool {
	match := securityShape.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	d.Object = "PodSecurity " + match[1]
	d.Reasons = clauses(match[2])
	d.set(CategoryPodSecurity, "PodSecurity "+match[1]+" forbids: "+match[2], "harden the pod, or run it where the level allows it")
	return true
}

// clauses splits a list at its commas, except inside parentheses and quotes.
func clauses(text string) []string {
	var list []string
	depth, quoted, start := 0, false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			list = append(list, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(list, strings.TrimSpace(text[min(start, len(text)):]))
}

func parseSCC(text string, d *Diagnosis) bool {
	match := sccShape.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	at := providerShape.FindAllStringSubmatchIndex(match[1], -1)
	for i, provider := range at {
		end := len(match[1])
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		d.Reasons = append(d.Reasons, match[1][provider[2]:provider[3]]+": "+strings.TrimRight(strings.TrimSpace(match[1][provider[1]:end]), ","))
	}
	if len(at) == 0 {
		d.Reasons = []string{match[1]}
	}
	d.set(CategorySCC, "no SecurityContextConstraints of OpenShift admits the pod", "leave user, group and SELinux ids to the namespace's range, or have the service account allowed another constraint")
	return true
}

// parseClasses knows the refusals of the Priority and RuntimeClass plugins.
func parseClasses(text string, d *Diagnosis) bool {
	const remedy = "name a class that exists, and leave what it sets to it"
	if match := classShape.FindStringSubmatch(text); match != nil {
		d.Object = "PriorityClass " + match[1]
		d.set(CategoryPriorityClass, "priority class "+match[1]+" does not exist", remedy)
		return true
	}
	if match := runtimeShape.FindStringSubmatch(text); match != nil {
		d.Object = "RuntimeClass " + match[1]
		d.set(CategoryRuntimeClass, "runtime class "+match[1]+" does not exist", remedy)
		return true
	}
	for _, known := range []struct {
		part     string
		category Category
	}{
		{"the integer value of priority (", CategoryPriorityClass},
		{"the string value of PreemptionPolicy (", CategoryPriorityClass},
		{"pod rejected: Pod's Overhead ", CategoryRuntimeClass},
		{"pod rejected: Pod Overhead ", CategoryRuntimeClass},
		{"runtimeClass.scheduling.nodeSelector[", CategoryRuntimeClass},
	} {
		if at := strings.Index(text, known.part); at >= 0 {
			d.set(known.category, text[at:], remedy)
			return true
		}
	}
	return false
}

// parseSurroundings knows what is wrong around the pod: its namespace, its account, the caller, an unreachable webhook.
func parseSurroundings(text string, d *Diagnosis) bool {
	if match := endingShape.FindStringSubmatch(text); match != nil {
		d.Object = "Namespace " + match[1]
		d.set(CategoryNamespaceTerminating, "namespace "+match[1]+" is being deleted", "use another namespace")
		return true
	}
	if match := accountShape.FindStringSubmatch(text); match != nil {
		d.Object = "ServiceAccount " + match[1]
		d.set(CategoryServiceAccount, "service account "+match[1]+" does not exist", "create it; in a new namespace the default account appears by itself within seconds")
		return true
	}
	if match := failedShape.FindStringSubmatch(text); match != nil {
		d.Webhook = match[1]
		d.set(CategoryWebhook, "admission webhook "+match[1]+" could not be asked: "+match[2], "try again, later each time, and tell its owner")
		d.Retry = RetryBackoff
		return true
	}
	if match := rbacShape.FindStringSubmatch(text); match != nil {
		d.set(CategoryRBAC, "user "+match[1]+" may not "+match[2]+" "+match[3], "grant it with a role")
		return true
	}
	return false
}
