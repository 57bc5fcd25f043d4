package podspec

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Profiles are named sizes. A profile never affects another one.
type Profiles map[string]Size

// Size is the size of a profile, under the layers that are given before it: the first layer that sets a dimension wins,
// the profile fills in the rest. An unknown profile is an ErrProfile that lists the names there are.
func (p Profiles) Size(name string, over ...Size) (Size, error) {
	size, known := p[name]
	if !known {
		names := strings.Join(slices.Sorted(maps.Keys(p)), ", ")
		return Size{}, fmt.Errorf("%w %q is not declared; declared are: %s", ErrProfile, clip(name), names)
	}
	return Resolve(append(slices.Clone(over), size)...), nil
}

// Declaration is a profile whose amounts an environment may set.
type Declaration struct {
	// Name is how the profile is asked for.
	Name string
	// Prefix starts the names of its variables, without the underscore behind it: "RUNTIME_BOT". Empty stands for
	// "RUNTIME_" and the name in upper case, with an underscore for everything that is no letter or digit.
	Prefix string
	// Default is used for the dimensions that the environment does not set. Amounts in it whose source is "code" get
	// "profile NAME" as their source.
	Default Size
}

// MeetingBot declares the profile "meeting-bot" with the variables RUNTIME_BOT_*.
func MeetingBot() Declaration { return Declaration{Name: "meeting-bot", Prefix: "RUNTIME_BOT"} }

// AgentWorker declares the profile "agent-worker" with the variables RUNTIME_AGENT_WORKER_*.
func AgentWorker() Declaration {
	return Declaration{Name: "agent-worker", Prefix: "RUNTIME_AGENT_WORKER"}
}

// DefaultDeclarations are MeetingBot and AgentWorker.
func DefaultDeclarations() []Declaration { return []Declaration{MeetingBot(), AgentWorker()} }

// Variables are the names of the environment variables of the profile, in the order of their dimensions. Memory has two,
// in MiB and as a quantity.
func (d Declaration) Variables() []string {
	prefix := d.prefix()
	names := make([]string, 0, len(variables))
	for _, suffix := range variables {
		names = append(names, prefix+suffix)
	}
	return names
}

const (
	suffixCPU         = "_CPU"
	suffixMemoryMB    = "_MEMORY_MB"
	suffixMemory      = "_MEMORY"
	suffixStorage     = "_EPHEMERAL_STORAGE_MB"
	suffixGPU         = "_GPU"
	suffixGPUResource = "_GPU_RESOURCE"
)

// variables is written to by no one.
var variables = [...]string{suffixCPU, suffixMemoryMB, suffixMemory, suffixStorage, suffixGPU, suffixGPUResource}

var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (d Declaration) prefix() string {
	if d.Prefix != "" {
		return strings.TrimSuffix(d.Prefix, "_")
	}
	return "RUNTIME_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, d.Name)
}

// check refuses declarations that cannot be told apart or whose variables could not exist. Sound are those that can be read.
func check(declarations []Declaration) (sound []Declaration, err error) {
	var found faults
	names, prefixes := map[string]bool{}, map[string]string{}
	for _, d := range declarations {
		prefix, before := d.prefix(), len(found)
		if d.Name == "" || len(d.Name) > maxText {
			found.add(fmt.Errorf("%w name %q must have 1 to %d bytes", ErrProfile, clip(d.Name), maxText))
		}
		if names[d.Name] {
			found.add(fmt.Errorf("%w %q is declared twice", ErrProfile, clip(d.Name)))
		}
		if !environmentName.MatchString(prefix) || len(prefix) > maxText {
			found.add(fmt.Errorf("%w %q: prefix %q cannot start an environment variable", ErrProfile, clip(d.Name), clip(prefix)))
		}
		if owner, taken := prefixes[prefix]; taken && owner != d.Name {
			found.add(fmt.Errorf("%w %q has the prefix %s of profile %q", ErrProfile, clip(d.Name), clip(prefix), clip(owner)))
		}
		names[d.Name], prefixes[prefix] = true, d.Name
		if len(found) == before {
			sound = append(sound, d)
		}
	}
	return sound, found.err()
}

// read gives the profile's size from an environment, over its defaults.
func (d Declaration) read(rules Rules, lookup func(string) (string, bool)) (Size, error) {
	prefix := d.prefix()
	value := func(suffix string) string {
		text, _ := lookup(prefix + suffix)
		return strings.TrimSpace(text)
	}
	variable := func(suffix string, dimension Dimension) Dimension {
		return dimension.Field(prefix + suffix).From("env " + prefix + suffix)
	}
	var found faults
	gpu, err := deviceIn(value(suffixGPUResource), prefix+suffixGPUResource)
	found.add(err)
	memory, err := oneMemory(rules, variable(suffixMemory, Memory(value(suffixMemory))),
		variable(suffixMemoryMB, MiBText(value(suffixMemoryMB))).beside(prefix+suffixMemory))
	found.add(err)
	size, err := rules.Size(
		variable(suffixCPU, CPU(value(suffixCPU))),
		variable(suffixStorage, EphemeralStorageMiBText(value(suffixStorage))).beside(""),
		variable(suffixGPU, Text(gpu, value(suffixGPU))),
		memory,
	)
	found.add(err)
	if err := found.err(); err != nil {
		return Size{}, err
	}
	return Resolve(size, d.Default.named("profile "+d.Name)), nil
}

// deviceIn is the resource that a variable names; where it names none, or nothing that is counted in devices, it is
// GPUResource.
func deviceIn(text, field string) (corev1.ResourceName, error) {
	name := corev1.ResourceName(text)
	if text == "" {
		return GPUResource, nil
	}
	if wrong := checkResourceName(name); wrong != nil {
		wrong.Field = field
		return GPUResource, wrong
	}
	if !isDevice(name) {
		return GPUResource, fault(ErrResourceName, field, text, "is not an extended resource", "write "+string(GPUResource)+" or the name that your device plugin registers")
	}
	return name, nil
}

// oneMemory chooses between the two spellings of memory. Both may be set if they say the same; a fault in either of them
// is reported here, and unset handed on.
func oneMemory(rules Rules, quantity, mebibytes Dimension) (Dimension, error) {
	unset := Dimension{unit: unitUnset}
	first, isFirst, errFirst := rules.read(quantity)
	second, isSecond, errSecond := rules.read(mebibytes)
	if err := errors.Join(errFirst, errSecond); err != nil {
		return unset, err
	}
	switch {
	case isFirst && isSecond && first.quantity.Cmp(second.quantity) != 0:
		return unset, fault(ErrConflict, quantity.field, quantity.text, "contradicts "+mebibytes.field+"="+mebibytes.text, "set one of the two")
	case isFirst:
		return quantity, nil
	}
	return mebibytes, nil
}

// named gives every amount of unnamed source the source of its profile.
func (s Size) named(source string) Size {
	renamed := make(map[corev1.ResourceName]Amount, len(s.amounts))
	for name, amount := range s.amounts {
		if amount.source == sourceCode {
			amount.source = source
		}
		renamed[name] = amount
	}
	return Size{amounts: renamed}
}
