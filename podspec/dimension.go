package podspec

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// GPUResource is the extended resource that [GPU] counts.
const GPUResource corev1.ResourceName = "nvidia.com/gpu"

// unit is how the input of a dimension is to be read.
type unit int

const (
	unitQuantity unit = iota // text of a quantity: decimal cores for cpu, bytes for memory, a count for devices
	unitCores                // a float of cores
	unitMiB                  // a whole number of MiB
	unitExact                // a resource.Quantity
	unitUnset                // nothing was written
)

// Dimension is one written amount, not looked at yet: [NewSize] and [Rules.Size] read it and report what is wrong. It is
// made by the functions below and cannot fail by itself.
type Dimension struct {
	name     corev1.ResourceName
	unit     unit
	text     string
	cores    float64
	quantity resource.Quantity
	field    string
	source   string
	// sibling is the field that takes quantities where this one takes MiB: anyField where that is not known, empty where
	// there is none.
	sibling string
}

// anyField stands for the name of a field that a hint cannot know.
const anyField = "the field for quantities"

// Cores is a number of cpu cores: 2, 0.5. It is taken to the nearest millicore where it is within one part in 10^9 of it
// and rounded up otherwise.
func Cores(cores float64) Dimension {
	return Dimension{name: corev1.ResourceCPU, unit: unitCores, cores: cores, text: strconv.FormatFloat(cores, 'g', -1, 64)}
}

// CPU is a cpu amount as text: decimal cores ("0.5") or a quantity ("500m"). White space around it is ignored; an empty
// text leaves the dimension unset.
func CPU(text string) Dimension { return written(corev1.ResourceCPU, unitQuantity, text) }

// MiB is memory in mebibytes: 1024 is 1Gi.
func MiB(count int64) Dimension {
	return written(corev1.ResourceMemory, unitMiB, strconv.FormatInt(count, 10))
}

// MiBText is memory in mebibytes as text, digits only. An empty text leaves the dimension unset.
func MiBText(text string) Dimension { return written(corev1.ResourceMemory, unitMiB, text) }

// Memory is a memory quantity as text: "512Mi", "500M". An empty text leaves the dimension unset.
func Memory(text string) Dimension { return written(corev1.ResourceMemory, unitQuantity, text) }

// EphemeralStorageMiB is ephemeral storage in mebibytes.
func EphemeralStorageMiB(count int64) Dimension {
	return written(corev1.ResourceEphemeralStorage, unitMiB, strconv.FormatInt(count, 10))
}

// EphemeralStorageMiBText is ephemeral storage in mebibytes as text, digits only. An empty text leaves the dimension
// unset.
func EphemeralStorageMiBText(text string) Dimension {
	return written(corev1.ResourceEphemeralStorage, unitMiB, text)
}

// EphemeralStorage is an ephemeral storage quantity as text: "2Gi". An empty text leaves the dimension unset.
func EphemeralStorage(text string) Dimension {
	return written(corev1.ResourceEphemeralStorage, unitQuantity, text)
}

// GPU is a number of [GPUResource] devices. Zero is a declared zero: it wins over lower layers in [Resolve], and the pod
// asks for no device.
func GPU(count int64) Dimension { return Devices(GPUResource, count) }

// Devices is a number of devices of an extended resource such as "amd.com/gpu". Zero is a declared zero, as in [GPU].
func Devices(name corev1.ResourceName, count int64) Dimension {
	return written(name, unitQuantity, strconv.FormatInt(count, 10))
}

// Text is the amount of any resource as the text of a quantity. An empty text leaves the dimension unset.
func Text(name corev1.ResourceName, text string) Dimension { return written(name, unitQuantity, text) }

// Exact is the amount of any resource as a quantity that is held already. The quantity is copied.
func Exact(name corev1.ResourceName, quantity resource.Quantity) Dimension {
	return Dimension{name: name, unit: unitExact, quantity: quantity.DeepCopy()}
}

// From says where the amount comes from ("spec", "profile meeting-bot"). Amounts without a source come from "code".
func (d Dimension) From(source string) Dimension {
	d.source = source
	return d
}

// Field says under which name faults are reported; the resource's name if it is never called.
func (d Dimension) Field(name string) Dimension {
	d.field = name
	return d
}

func written(name corev1.ResourceName, unit unit, text string) Dimension {
	return Dimension{name: name, unit: unit, text: text, sibling: anyField}
}

// beside says which field takes quantities, and that none does where it is empty.
func (d Dimension) beside(sibling string) Dimension {
	d.sibling = sibling
	return d
}

// at is the name under which faults are reported.
func (d Dimension) at() string {
	if d.field != "" {
		return d.field
	}
	if d.name == "" {
		return "(resource without a name)"
	}
	return clip(string(d.name))
}
